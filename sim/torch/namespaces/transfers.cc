#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/tensor_object.h"

/// What ranks send each other, for those who work out how they wait for one another. It decides
/// nothing: no rank is parted here, and no value of the program's is changed.
namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

std::int64_t plain(const Value& value) {
  const Value& shown = lang::shown(value);
  return shown.is_number() ? shown.as_int() : 0;
}

NumberByRank number_of(const Value& value) {
  const auto* by_rank = value.as<lang::RankValue>();
  if (by_rank == nullptr) return {nullptr, {static_cast<int>(plain(value))}};
  NumberByRank number{by_rank->cells(), {}};
  for (const Value& each : by_rank->values())
    number.values.push_back(static_cast<int>(plain(each)));
  return number;
}

/// The place of `item` in `all`, where it is put if it is new.
template <class Item>
std::uint32_t place_of(std::vector<Item>& all, Item item) {
  const auto found = std::find(all.rbegin(), all.rend(), item);
  if (found != all.rend()) return static_cast<std::uint32_t>(all.rend() - found - 1);
  all.push_back(std::move(item));
  return static_cast<std::uint32_t>(all.size() - 1);
}

TransferKind kind_of(std::string_view name) {
  const auto* const found = std::ranges::find(kTransferNames, name);
  return found == kTransferNames.end() ? TransferKind::kCollective
                                       : static_cast<TransferKind>(found - kTransferNames.begin());
}

LabelId users_line(Session& session, const Interp& interp) {
  const SourceSpan at = lang::users_place(interp);
  if (!at.source) return 0;
  return session.emitter.program().labels.intern(
      fmt::format("{}:{}", at.source->name, at.line + at.source->first_line - 1));
}

}  // namespace

void fill_transfers(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  const auto traffic = [s]() -> Traffic& { return s->emitter.program().traffic; };
  add("follows_transfers()",
      [=](Interp&, Arguments&) { return Value::boolean(traffic().is_followed && s->rank); });
  // The number of a group. `ranks`: in order; None: they cannot be told.
  add("follow_group(order, size, ranks)", [=](Interp&, Arguments& a) {
    RankGroup group;
    group.order = static_cast<std::uint32_t>(plain(a[0]));
    group.size = static_cast<int>(plain(a[1]));
    const auto* ranks = a[2].as<lang::List>();
    group.is_world = s->rank && group.size == s->rank->world;
    group.is_known = group.is_world || ranks != nullptr;
    if (!group.is_world && ranks != nullptr)
      for (const Value& rank : ranks->items) group.ranks.push_back(number_of(rank));
    traffic().groups.push_back(std::move(group));
    return Value::integer(static_cast<std::int64_t>(traffic().groups.size()) - 1);
  });
  const auto transfer_of = [=](const Interp& interp, const Value& group, std::string_view kind,
                               std::int64_t bytes, const Value& peer, bool is_joined) {
    Transfer made;
    made.kind = kind_of(kind);
    made.is_joined = is_joined;
    made.group = static_cast<std::uint32_t>(plain(group));
    if (is_of_two(made.kind)) made.peer = place_of(traffic().peers, number_of(peer));
    made.bytes = static_cast<Bytes>(std::max<std::int64_t>(bytes, 0));
    made.place = users_line(*s, interp);
    return place_of(traffic().transfers, made);
  };
  // The next kernel on the tensor's device is a transfer.
  add("follow_launch(tensor, group, kind, read, written, peer, is_joined)",
      [=](Interp& in, Arguments& a) {
        const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
        s->wait_for(tensor);
        s->emitter.follow(tensor.device(),
                          transfer_of(in, a[1], a.text(2), std::max(plain(a[3]), plain(a[4])), a[5],
                                      a.boolean(6)),
                          QueuedTransfer::How::kNextLaunch, 0);
        return Value::none();
      });
  // A transfer on a stream of its own that no kernel stands for, after what is queued.
  add("follow_beside(tensor, stream, group, kind, bytes)", [=](Interp& in, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    s->emitter.follow(tensor.device(),
                      transfer_of(in, a[2], a.text(3), plain(a[4]), Value::integer(0), false),
                      QueuedTransfer::How::kBeside, static_cast<std::uint16_t>(a.integer(1)));
    return Value::none();
  });
  // The current stream waits for what is queued on `stream`.
  add("follow_wait(tensor, stream)", [=](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    s->emitter.follow(tensor.device(), 0, QueuedTransfer::How::kWait,
                      static_cast<std::uint16_t>(a.integer(1)));
    return Value::none();
  });
}

}  // namespace tidemark::torch
