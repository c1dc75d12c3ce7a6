#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/lang/runtime/rank_value.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/own_device.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;

namespace {

ops::Device device_or_current(Session& session, Arguments& a, std::size_t i) {
  return a.has(i) && !a[i].is_none() ? session.device_from(a[i]) : device_in_use(session);
}

/// The GPU of a number that the library's own code keeps. Errors: RuntimeError where none has it.
ops::Device numbered(Session& session, Arguments& a) {
  const std::int64_t number = a.integer(0);
  if (number < 0 || number >= session.device_count)
    session.interp.runtime_error("CUDA error: invalid device ordinal");
  return ops::Device{static_cast<std::int8_t>(number)};
}

}  // namespace

void fill_cuda(Session& session, lang::Module& module) {
  Session* s = &session;
  Interp& interp = session.interp;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(interp.intern(lang::function_name(signature)),
               interp.function(signature, std::move(body)));
  };
  const auto figure = [&](std::string_view signature, MemoryQuery what) {
    add(signature, [s, what](Interp&, Arguments& a) {
      const ops::Device device = device_or_current(*s, a, 0);
      return Value::integer(
          static_cast<std::int64_t>(s->guarded([&] { return s->emitter.query(what, device); })));
    });
  };
  figure("memory_allocated(device=None)", MemoryQuery::kAllocated);
  figure("max_memory_allocated(device=None)", MemoryQuery::kMaxAllocated);
  figure("memory_reserved(device=None)", MemoryQuery::kReserved);
  figure("max_memory_reserved(device=None)", MemoryQuery::kMaxReserved);
  figure("memory_cached(device=None)", MemoryQuery::kReserved);
  figure("max_memory_cached(device=None)", MemoryQuery::kMaxReserved);
  add("mem_get_info(device=None)", [s](Interp& in, Arguments& a) {
    const ops::Device device = device_or_current(*s, a, 0);
    return s->guarded([&] {
      const Bytes free = s->emitter.query(MemoryQuery::kDeviceFree, device);
      const Bytes total = s->emitter.query(MemoryQuery::kDeviceTotal, device);
      return in.tuple({Value::integer(static_cast<std::int64_t>(free)),
                       Value::integer(static_cast<std::int64_t>(total))});
    });
  });
  // What was accumulated before reset_accumulated_memory_stats(), by device and key.
  const auto before = std::make_shared<std::map<std::pair<int, std::string>, std::int64_t>>();
  add("memory_stats(device=None)", [s, before](Interp& in, Arguments& a) -> Value {
    const ops::Device device = device_or_current(*s, a, 0);
    const Ref<lang::Dict> out = in.dict();
    const auto statistics = s->guarded([&] { return s->emitter.statistics(device); });
    for (const auto& [key, value] : statistics) {
      const auto gone = before->find({device.index, std::string(key)});
      out->table.set(in, in.str(key),
                     Value::integer(value - (gone == before->end() ? 0 : gone->second)));
    }
    return out;
  });
  add("reset_accumulated_memory_stats(device=None)", [s, before](Interp&, Arguments& a) {
    const ops::Device device = device_or_current(*s, a, 0);
    const auto statistics = s->guarded([&] { return s->emitter.statistics(device); });
    for (const auto& [key, value] : statistics) {
      const std::string name(key);
      const bool accumulates =
          name.ends_with(".allocated") || name.ends_with(".freed") || name.starts_with("num_");
      if (accumulates) (*before)[{device.index, name}] = value;
    }
    return Value::none();
  });
  add("_device_figures(device=None)", [s](Interp& in, Arguments&) {
    const DeviceSpec& spec = s->c.spec();
    const auto number = [](auto value) { return Value::integer(static_cast<std::int64_t>(value)); };
    return in.tuple({in.str(spec.name), number(spec.compute_capability / 10),
                     number(spec.compute_capability % 10), number(spec.total_bytes),
                     number(spec.sm_count), number(spec.max_threads_per_sm),
                     number(spec.shared_memory_per_sm), number(spec.shared_memory_per_block_optin),
                     number(spec.l2_bytes)});
  });
  add("host_memory_stats()", [s](Interp& in, Arguments&) -> Value {
    const PinnedStatistics now = s->guarded([&] { return s->emitter.pinned_statistics(); });
    const Ref<lang::Dict> out = in.dict();
    const auto put = [&](const char* key, std::uint64_t value) {
      out->table.set(in, in.str(key), Value::integer(static_cast<std::int64_t>(value)));
    };
    put("allocated_bytes.current", now.held);
    put("allocated_bytes.peak", now.peak_held);
    put("allocations.current", now.made - now.given);
    put("num_host_alloc", now.made);
    put("num_host_free", now.given);
    return out;
  });
  add("empty_cache()", [s](Interp&, Arguments&) {
    for (int i = 0; i < s->device_count; ++i)
      s->emitter.empty_cache(ops::Device{static_cast<std::int8_t>(i)});
    return Value::none();
  });
  add("reset_peak_memory_stats(device=None)", [s](Interp&, Arguments& a) {
    s->emitter.reset_peak(device_or_current(*s, a, 0));
    return Value::none();
  });
  add("reset_max_memory_cached(device=None)", [s](Interp&, Arguments& a) {
    s->emitter.reset_peak(device_or_current(*s, a, 0));
    return Value::none();
  });
  add("reset_max_memory_allocated(device=None)", [s](Interp&, Arguments& a) {
    s->emitter.reset_peak(device_or_current(*s, a, 0));
    return Value::none();
  });
  add("synchronize(device=None)", [s](Interp&, Arguments& a) {
    s->emitter.synchronize_device(device_or_current(*s, a, 0));
    return Value::none();
  });
  add("is_available()", [](Interp&, Arguments&) { return Value::boolean(true); });
  add("is_initialized()",
      [s](Interp&, Arguments&) { return Value::boolean(s->emitter.is_initialized()); });
  add("init()", [s](Interp&, Arguments&) {
    s->emitter.initialize();
    return Value::none();
  });
  add("is_bf16_supported(including_emulation=True)", [s](Interp&, Arguments& a) {
    return Value::boolean(s->c.spec().compute_capability >= 80 || a.boolean(0));
  });
  add("device_count()", [s](Interp&, Arguments&) { return Value::integer(s->device_count); });
  add("current_device()",
      [s](Interp& in, Arguments&) { return device_number(in, device_in_use(*s)); });
  add("set_device(device)", [s](Interp& in, Arguments& a) {
    s->current_device = s->device_from(a[0]);
    if (lang::Alike* alike = lang::alike_of(in)) alike->has_device = true;
    return Value::none();
  });
  // The same by number, for the library's own code, which tells nobody the number: `None` is the
  // current one.
  add("_number_of(device=None)", [s](Interp&, Arguments& a) {
    const ops::Device device = device_or_current(*s, a, 0);
    return Value::integer(device.is_cuda() ? device.index : device_in_use(*s).index);
  });
  add("_device_of(number)", [s](Interp&, Arguments& a) { return s->wrap(numbered(*s, a)); });
  add("_use(number)", [s](Interp&, Arguments& a) {
    s->current_device = numbered(*s, a);
    return Value::none();
  });
  add("_told(number)",
      [s](Interp& in, Arguments& a) { return device_number(in, numbered(*s, a)); });
  add("can_device_access_peer(device, peer_device)", [s](Interp&, Arguments& a) {
    return Value::boolean(!(s->device_from(a[0]) == s->device_from(a[1])));
  });
  add("get_device_name(device=None)",
      [s](Interp& in, Arguments&) { return in.str(s->c.spec().name); });
  add("get_device_capability(device=None)", [s](Interp& in, Arguments&) {
    const int cc = s->c.spec().compute_capability;
    return in.tuple({Value::integer(cc / 10), Value::integer(cc % 10)});
  });
  add("manual_seed(seed)", [](Interp&, Arguments&) { return Value::none(); });
  add("manual_seed_all(seed)", [](Interp&, Arguments&) { return Value::none(); });
  add("ipc_collect()", [](Interp&, Arguments&) { return Value::none(); });
  module.set(interp.intern("OutOfMemoryError"), session.out_of_memory);
}

}  // namespace tidemark::torch
