"""What `make` builds is hardened as the compiler and the linker can: read off the files themselves."""

import subprocess

import pytest
from harness import ROOT


def read(*words):
    return subprocess.run(["readelf", "-W", *words], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["fdl", "libfdl.so"])
def test_a_mistake_in_memory_meets_every_obstacle(name):
    path = str(ROOT / "build" / name)
    header, segments, dynamic, symbols = (read(option, path) for option in ("-h", "-l", "-d", "--dyn-syms"))
    assert "DYN (" in header and (name != "fdl" or "PIE" in dynamic)  # loaded at an address that nobody knows
    assert "GNU_RELRO" in segments and "NOW" in dynamic  # what is called is fixed before the program starts
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    assert "RW " in stack and "RWE" not in stack and not any("RWE" in line for line in segments.splitlines())
    assert "__stack_chk_fail" in symbols  # a frame that was written over ends the program
    assert "__memcpy_chk" in symbols or "__snprintf_chk" in symbols  # _FORTIFY_SOURCE
    assert "TEXTREL" not in dynamic and "RPATH" not in dynamic and "RUNPATH" not in dynamic
