#include "validation/cuda/results.h"

#include <fstream>
#include <stdexcept>

namespace harness {

namespace {

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::ofstream opened(const std::string& path) {
  std::ofstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be written");
  return file;
}

}  // namespace

void Results::event(const char* action, std::uint64_t address, std::uint64_t bytes, int stream,
                    std::int64_t id) {
  rows_.push_back({action, address, bytes, stream, id, phase_});
}

void Results::call(const char* what, std::uint64_t bytes, std::uint64_t address, std::uint64_t ns,
                   std::uint64_t free_bytes, std::uint64_t process_bytes) {
  calls_.push_back({what, bytes, address, ns, free_bytes, process_bytes});
}

void Results::write(const std::string& folder, const Summary& s) const {
  const std::string base = folder + "/" + s.name;
  std::ofstream events = opened(base + ".events.csv");
  events << "index,action,address,bytes,stream,id,phase\n";
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    events << i << ',' << row.action << ',' << row.address << ',' << row.bytes << ',' << row.stream
           << ',';
    if (row.id >= 0) events << row.id;
    events << ',' << csv_text(row.phase) << '\n';
  }
  std::ofstream calls = opened(base + ".calls.csv");
  calls << "call,bytes,address,ns,free_bytes,process_bytes\n";
  for (const Call& call : calls_) {
    calls << call.what << ',' << call.bytes << ',' << call.address << ',' << call.ns << ','
          << call.free_bytes << ',' << call.process_bytes << '\n';
  }
  std::ofstream kernels = opened(base + ".kernels.csv");
  kernels
      << "kind,precision,flops,bytes,op,by,workspace_bytes,ns,least_ns,most_ns,repeats,kernel\n";
  for (const Kernel& each : kernels_) {
    kernels << each.kernel.kind << ',' << each.kernel.precision << ',' << each.kernel.flops << ','
            << each.kernel.bytes << ',' << csv_text(each.kernel.op) << ',' << csv_text(each.by)
            << ',';
    if (each.workspace_bytes >= 0) kernels << each.workspace_bytes;
    kernels << ',' << each.times[each.times.size() / 2] << ',' << each.times.front() << ','
            << each.times.back() << ',' << each.times.size() << ',' << csv_text(each.kernel.text)
            << '\n';
  }
  std::ofstream json = opened(base + ".json");
  const std::uint64_t outside = s.total_bytes - s.free_at_start;
  json << "{\n \"schema_version\": 1,\n \"kind\": \"measured\",\n \"name\": " << json_text(s.name)
       << ",\n \"provenance\": {\"device\": " << json_text(s.device)
       << ", \"compute_capability\": " << json_text(s.compute_capability)
       << ", \"pretend\": " << (s.pretend ? "true" : "false")
       << ", \"given_times\": " << (s.given_times ? "true" : "false")
       << ", \"driver\": " << json_text(s.driver) << ", \"torch\": \"\""
       << ", \"cuda\": " << json_text(s.cuda) << ", \"date\": " << json_text(s.date)
       << ", \"command\": " << json_text(s.command)
       << "},\n \"ended_by_oom\": " << (s.ended_by_oom ? "true" : "false")
       << ",\n \"oom_message\": " << json_text(s.oom_message)
       << ",\n \"error\": " << json_text(s.error) << ",\n \"freed_early\": " << s.freed_early
       << ",\n \"devices\": [\n  {\"total_bytes\": " << s.total_bytes
       << ", \"outside_bytes\": " << outside
       << ", \"peak_allocated_bytes\": null, \"peak_reserved_bytes\": " << s.reserved_peak
       << ", \"device_total_bytes\": " << s.total_bytes - s.least_free << "}\n ]\n}\n";
  for (const std::ofstream* file : {&events, &calls, &kernels, &json}) {
    if (!*file) throw std::runtime_error(base + ": cannot be written");
  }
}

}  // namespace harness
