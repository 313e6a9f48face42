/*
 * metrics.c - counters, in the text form that Prometheus reads.
 */
#include "host/metrics.h"

#include "host/answer.h"
#include "host/host.h"
#include "util/buf.h"

static const struct {
    fdl_host_method method;
    const char *name;
} methods[FDL_METHOD_COUNT] = {
    {FDL_METHOD_OTHER, "other"}, {FDL_METHOD_GET, "GET"},       {FDL_METHOD_HEAD, "HEAD"},      {FDL_METHOD_PUT, "PUT"},
    {FDL_METHOD_POST, "POST"},   {FDL_METHOD_DELETE, "DELETE"}, {FDL_METHOD_OPTIONS, "OPTIONS"},
};

static size_t place_of(fdl_host_method method) {
    for (size_t i = 1; i < FDL_METHOD_COUNT; i++)
        if (methods[i].method == method)
            return i;
    return 0;
}

void fdl_host_metrics_count(fdl_host_metrics *metrics, const fdl_host_request *request, bool complete) {
    unsigned status_class = complete ? request->status / 100 : 0;
    if (status_class >= FDL_STATUS_CLASS_COUNT)
        status_class = 0;
    atomic_fetch_add(&metrics->requests[place_of(request->method)][status_class], 1);
    atomic_fetch_add(&metrics->received_bytes, request->received_bytes);
    if (complete && request->method != FDL_METHOD_HEAD)
        atomic_fetch_add(&metrics->sent_bytes, request->answer_bytes);
}

static fdl_code add_requests(fdl_buf *out, fdl_host_metrics *metrics, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(out,
                                    "# HELP fdl_requests_total Requests that have ended; status 'broken' for those "
                                    "that did not get their whole answer.\n"
                                    "# TYPE fdl_requests_total counter\n",
                                    error);
    for (size_t m = 0; m < FDL_METHOD_COUNT; m++) {
        for (unsigned s = 0; code == FDL_OK && s < FDL_STATUS_CLASS_COUNT; s++) {
            char status[8] = "broken";
            uint64_t count = atomic_load(&metrics->requests[m][s]);
            if (s > 0) {
                status[0] = (char)('0' + s);
                status[1] = status[2] = 'x';
                status[3] = '\0';
            }
            if (count > 0)
                code = fdl_buf_add_format(out, error, "fdl_requests_total{method=\"%s\",status=\"%s\"} %llu\n",
                                          methods[m].name, status, (unsigned long long)count);
        }
    }
    return code;
}

typedef struct figure {
    const char *name;
    const char *kind;
    const char *help;
    uint64_t value;
} figure;

fdl_code fdl_host_metrics_answer(fdl_host_request *request, fdl_error *error) {
    fdl_host *host = request->host;
    fdl_host_metrics *metrics = &host->metrics;
    const figure figures[] = {
        {"fdl_sent_bytes_total", "counter", "Bytes of bodies in answers sent whole.",
         atomic_load(&metrics->sent_bytes)},
        {"fdl_received_bytes_total", "counter", "Bytes of bodies received.", atomic_load(&metrics->received_bytes)},
        {"fdl_swept_connections_total", "counter", "Connections ended because they took too long to ask.",
         atomic_load(&metrics->swept)},
        {"fdl_connections", "gauge", "Open connections.", fdl_host_connections_count(&host->connections)},
        {"fdl_requests_in_flight", "gauge", "Requests being answered.", atomic_load(&host->in_flight)},
        {"fdl_waiting_readers", "gauge", "Reading requests that wait for a worker.",
         fdl_host_pool_waiting(host->readers)},
        {"fdl_waiting_writers", "gauge", "Writing requests that wait for a worker.",
         fdl_host_pool_waiting(host->writers)},
    };
    fdl_buf out;
    fdl_buf_init(&out, 1 << 16);
    fdl_code code = add_requests(&out, metrics, error);
    for (size_t i = 0; code == FDL_OK && i < sizeof figures / sizeof *figures; i++)
        code = fdl_buf_add_format(&out, error, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", figures[i].name,
                                  figures[i].help, figures[i].name, figures[i].kind, figures[i].name,
                                  (unsigned long long)figures[i].value);
    if (code == FDL_OK)
        code = fdl_answer_bytes(request, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", out.data, out.length,
                                error);
    fdl_buf_clear(&out);
    return code;
}

fdl_code fdl_host_health_answer(fdl_host_request *request, fdl_error *error) {
    return fdl_answer_bytes(request, MHD_HTTP_OK, "text/plain; charset=utf-8", "ok\n", 3, error);
}
