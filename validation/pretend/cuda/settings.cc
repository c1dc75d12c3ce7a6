#include "validation/pretend/cuda/core.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

namespace pretend {

namespace {

// A few shapes to start from; every number can be replaced by a variable.
// The table is configs/devices (device.py turns an entry of it into variables).
const Preset kPresets[] = {
    {"a100-sxm-80gb", "NVIDIA A100-SXM4-80GB", 80, 85100068864ull, 432 * kMiB, 108, 41943040,
     166912, 167936, 2048},
    {"h100-sxm-80gb", "NVIDIA H100 80GB HBM3", 90, 85017755648ull, 528 * kMiB, 132, 52428800,
     232448, 233472, 2048},
    {"rtx-3090", "NVIDIA GeForce RTX 3090", 86, 25414860800ull, 246 * kMiB, 82, 6291456, 101376,
     102400, 1536},
};

}  // namespace

namespace {

uint64_t amount(const char* s) {
  char* end = nullptr;
  double v = strtod(s, &end);
  uint64_t iv = strtoull(s, nullptr, 0);
  if (end && (!strncasecmp(end, "kib", 3) || !strcasecmp(end, "k"))) return uint64_t(v * 1024);
  if (end && (!strncasecmp(end, "mib", 3) || !strcasecmp(end, "m"))) return uint64_t(v * kMiB);
  if (end && (!strncasecmp(end, "gib", 3) || !strcasecmp(end, "g"))) return uint64_t(v * kGiB);
  return iv;
}

}  // namespace

uint64_t env_u64(const char* name, uint64_t dflt) {
  const char* s = getenv(name);
  return s && *s ? amount(s) : dflt;
}

namespace {

// "3" or "3-" or "3-5": the first and the last.
void read_span(const char* text, uint64_t& first, uint64_t& last) {
  char* end = nullptr;
  first = last = strtoull(text, &end, 0);
  if (*end == '-') last = end[1] ? strtoull(end + 1, nullptr, 0) : UINT64_MAX;
}

void read_faults(Config& c) {
  if (const char* f = getenv("FAKECUDA_FAIL_MEMORY")) read_span(f, c.fail_first, c.fail_last);
  c.lost_after = env_u64("FAKECUDA_LOST_AFTER", 0);
  c.nvml_us = env_u64("FAKECUDA_NVML_US", 0);
  c.slow_us = env_u64("FAKECUDA_SLOW_US", 0);
  if (const char* o = getenv("FAKECUDA_OTHER_LATER")) {  // CALL:BYTES
    c.other_from = strtoull(o, nullptr, 0);
    if (const char* bytes = strchr(o, ':')) c.other_more = amount(bytes + 1);
  }
  if (const char* n = getenv("FAKECUDA_NVML")) {  // words, apart by commas
    c.nvml_absent = strstr(n, "absent") != nullptr;
    c.nvml_na = strstr(n, "na") == n || strstr(n, ",na") != nullptr;
    c.nvml_container = strstr(n, "container") != nullptr;
    c.nvml_reversed = strstr(n, "reversed") != nullptr;
    c.nvml_mig = strstr(n, "mig") != nullptr;
  }
  if (const char* d = getenv("FAKECUDA_DRIVER")) c.driver = d;
  if (const char* r = getenv("FAKECUDA_FLOPS_PER_S")) c.flops_per_s = strtod(r, nullptr);
  if (const char* r = getenv("FAKECUDA_BYTES_PER_S")) c.bytes_per_s = strtod(r, nullptr);
  c.first_kernel = env_u64("FAKECUDA_FIRST_KERNEL_BYTES", 0);
  c.launch_ns = env_u64("FAKECUDA_KERNEL_NS", 0);
}

}  // namespace

Config::Config() {
  p = kPresets[0];
  if (const char* d = getenv("FAKECUDA_DEVICE"))
    for (auto& q : kPresets)
      if (!strcmp(q.id, d)) p = q;
  name = p.name;
  if (const char* n = getenv("FAKECUDA_NAME")) name = n;
  p.total = env_u64("FAKECUDA_TOTAL_BYTES", p.total);
  p.context = env_u64("FAKECUDA_CONTEXT_BYTES", p.context);
  p.sms = int(env_u64("FAKECUDA_SM_COUNT", p.sms));
  p.cc = int(env_u64("FAKECUDA_CC", p.cc));
  p.l2 = int(env_u64("FAKECUDA_L2_BYTES", p.l2));
  p.smem_optin = int(env_u64("FAKECUDA_SMEM_OPTIN", p.smem_optin));
  p.smem_sm = int(env_u64("FAKECUDA_SMEM_SM", p.smem_sm));
  p.threads_sm = int(env_u64("FAKECUDA_THREADS_SM", p.threads_sm));
  count = int(env_u64("FAKECUDA_COUNT", 1));
  other = env_u64("FAKECUDA_OTHER_BYTES", 0);
  granularity = env_u64("FAKECUDA_GRANULARITY", granularity);
  small_limit = env_u64("FAKECUDA_SMALL_LIMIT", small_limit);
  copy_max = env_u64("FAKECUDA_COPY_MAX", copy_max);
  if (const char* b = getenv("FAKECUDA_BACKING")) backed = strcmp(b, "none") != 0;
  if (const char* e = getenv("FAKECUDA_EVENTS")) {
    if (!strcmp(e, "sync")) events = EventMode::Sync;
    if (!strncmp(e, "lag:", 4)) {
      events = EventMode::Lag;
      lag = strtoull(e + 4, nullptr, 0);
    }
  }
  if (const char* v = getenv("FAKECUDA_VA")) {
    if (!strcmp(v, "up")) va = VaOrder::Up;
    if (!strcmp(v, "down")) va = VaOrder::Down;
    if (!strcmp(v, "fresh")) va = VaOrder::Fresh;
    if (!strncmp(v, "list:", 5)) {  // lines of "bytes offset", in the order of the calls
      va = VaOrder::List;
      if (FILE* f = fopen(v + 5, "r")) {
        unsigned long long n, o;
        while (fscanf(f, "%llu %llu", &n, &o) == 2) list.push_back({n, o});
        fclose(f);
      }
    }
  }
  read_faults(*this);
  trace_unknown = env_u64("FAKECUDA_TRACE_UNKNOWN", 0) != 0;
  if (const char* k = getenv("FAKECUDA_LOG_KINDS")) {
    log_launch = strstr(k, "launch") != nullptr;
    log_sync = strstr(k, "sync") != nullptr;
    log_copy = strstr(k, "copy") != nullptr;
  }
  if (const char* f = getenv("FAKECUDA_LOG")) {
    if (!strcmp(f, "-"))
      log = stderr;
    else {
      std::string path = f;
      size_t at = path.find("%p");
      if (at != std::string::npos) path.replace(at, 2, std::to_string(getpid()));
      log = fopen(path.c_str(), "w");
    }
    if (log) fprintf(log, "seq\tns\top\tdev\tstream\taddr\tbytes\ttaken\tfree\tnote\n");
  }
}

Config& cfg() {
  static Config* c = new Config;  // never destroyed: used from other libraries' destructors
  return *c;
}

}  // namespace pretend
