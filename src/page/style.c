/*
 * style.c - how the pages look, and the one thing that needs a script: copying
 * the statement.
 */
#include "fdl/page.h"

#include "page/page.h"

#define POLICY "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'"

const char fdl_page_meta_policy[] = POLICY;

const char *fdl_page_policy(void) {
    return POLICY "; frame-ancestors 'none'"; /* which a page may not say of itself */
}

static const char style[] =
    ":root {\n"
    "    color-scheme: light dark;\n"
    "    --ink: #1b1f24; --paper: #ffffff; --quiet: #57606a; --line: #d0d7de; --box: #f6f8fa; --link: #0a58ca;\n"
    "    --good: #116329; --bad: #b3261e;\n"
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    "    :root {\n"
    "        --ink: #e6edf3; --paper: #0d1117; --quiet: #9da7b3; --line: #30363d; --box: #161b22; --link: #7ab7ff;\n"
    "        --good: #57d364; --bad: #ff8b82;\n"
    "    }\n"
    "}\n"
    "* { box-sizing: border-box; }\n"
    "body {\n"
    "    margin: 0 auto; max-width: 60rem; padding: 1rem; overflow-wrap: anywhere;\n"
    "    font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);\n"
    "}\n"
    "h1 { font-size: 1.75rem; line-height: 1.2; }\n"
    "h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }\n"
    "a { color: var(--link); }\n"
    "code, pre { font-family: ui-monospace, monospace; font-size: .9em; }\n"
    ".description { white-space: pre-line; }\n"
    ".statement { position: relative; }\n"
    "pre { margin: 0; padding: .75rem; white-space: pre-wrap; background: var(--box); border: 1px solid var(--line);\n"
    "    border-radius: .4rem; }\n"
    "button { margin-top: .5rem; padding: .4rem .9rem; font: inherit; color: var(--ink); background: var(--box);\n"
    "    border: 1px solid var(--line); border-radius: .4rem; cursor: pointer; }\n"
    ":focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }\n"
    "dt { color: var(--quiet); }\n"
    "dd { margin: 0; white-space: pre-line; }\n"
    "details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: .25rem .75rem; }\n"
    "summary { cursor: pointer; padding: .25rem 0; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; width: 100%; }\n"
    "th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line);\n"
    "    font-weight: normal; }\n"
    "thead th { color: var(--quiet); border-top: 0; }\n"
    "ol { padding-left: 2.5rem; }\n"
    "li { margin: .5rem 0; }\n"
    "li p { margin: 0; white-space: pre-line; }\n"
    "small, time, footer { color: var(--quiet); }\n"
    "ins, .signature-good { color: var(--good); text-decoration: none; }\n"
    "del, .gone, .signature-bad { color: var(--bad); text-decoration: none; }\n"
    "@media (max-width: 30rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .5rem; } }\n";

static const char script[] =
    "'use strict';\n"
    "for (const button of document.querySelectorAll('button[data-copy]')) {\n"
    "    if (!navigator.clipboard) continue;\n"
    "    button.hidden = false;\n"
    "    button.addEventListener('click', async () => {\n"
    "        await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);\n"
    "        button.textContent = 'Copied';\n"
    "    });\n"
    "}\n";

const char *fdl_page_style(void) {
    return style;
}

const char *fdl_page_script(void) {
    return script;
}
