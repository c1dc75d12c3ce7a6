#include "sim/torch/source/messages.h"

#include "sim/lang/runtime/rank_value.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

namespace {

using lang::Arguments;
using lang::Interp;
using lang::Value;

std::string text_on(const Value& value, int rank) {
  const auto* by_rank = value.as<lang::RankValue>();
  const Value& own = by_rank == nullptr ? value : by_rank->of(rank);
  const auto* text = own.as<lang::Str>();
  return text == nullptr ? std::string() : text->text();
}

void fill_messages(Session& session, Mailbox* mailbox, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  // All ranks that have done the same so far send it, each its own.
  add("put_message(key, text)", [s, mailbox](Interp& in, Arguments& a) {
    if (mailbox == nullptr || !s->rank) return Value::none();
    const lang::Alike* alike = lang::alike_of(in);
    const std::vector<int> own{s->rank->index};
    for (const int rank : alike == nullptr ? own : alike->ranks())
      mailbox->messages.put(text_on(a[0], rank), rank, text_on(a[1], rank));
    return Value::none();
  });
  add("take_message(key, sender)", [mailbox](Interp& in, Arguments& a) {
    if (mailbox == nullptr) return Value::none();
    const Value key = lang::pinned(in, a[0]);
    const Value& sender = lang::pinned(in, a[1]);
    const auto* text = key.as<lang::Str>();
    if (text == nullptr) return Value::none();
    const std::string& name = text->text();
    const int rank = static_cast<int>(sender.as_int());
    std::optional<std::string> found = mailbox->messages.find(name, rank);
    if (found) return in.str(std::move(*found));
    mailbox->missing.emplace_back(name, rank);
    return Value::none();
  });
}

}  // namespace

void Messages::put(const std::string& key, int rank, std::string text) {
  const std::lock_guard lock(mutex_);
  texts_.insert_or_assign({key, rank}, std::move(text));
}

std::optional<std::string> Messages::find(const std::string& key, int rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find({key, rank});
  if (found == texts_.end()) return std::nullopt;
  return found->second;
}

void add_messages(Session& session, Mailbox* mailbox) {
  session.interp.add_module("torch.distributed._messages",
                            [s = &session, mailbox](Interp&, lang::Module& module) {
                              fill_messages(*s, mailbox, module);
                            });
}

}  // namespace tidemark::torch
