#include "sim/torch/source/messages.h"

#include <charconv>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/ops/values/view.h"
#include "sim/torch/tensors/session.h"
#include "sim/torch/tensors/tensor_object.h"

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

std::string text_of(const ops::Numbers& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text +=
        numbers.is_whole() ? std::to_string(numbers.whole[i]) : fmt::format("{}", numbers.real[i]);
    text += ' ';
  }
  return text;
}

/// False: the text has another count of numbers.
bool read_numbers(std::string_view text, ops::Numbers& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return false;
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (out.is_whole()) {
      std::int64_t value = 0;
      std::from_chars(one.data(), one.data() + one.size(), value);
      out.set_whole(i, value);
    } else {
      double value = 0;
      std::from_chars(one.data(), one.data() + one.size(), value);
      out.set(i, value);
    }
  }
  return text.empty();
}

/// Numbers that another rank sends, looked up when somebody reads them. Where its run does not send
/// them, they are taken to be those that were there.
class Received final : public ops::Recipe {
 public:
  Received(Interp& interp, Mailbox& mailbox, std::string key, int sender, ops::Numbers before)
      : interp_(interp),
        mailbox_(mailbox),
        key_(std::move(key)),
        sender_(sender),
        before_(std::move(before)) {}

  bool make(ops::Numbers& out) const override {
    const std::optional<std::string> found = mailbox_.messages.find(key_, sender_);
    if (found && read_numbers(*found, out)) return true;
    if (!found) mailbox_.missing.emplace_back(key_, sender_);
    lang::note(interp_,
               "numbers that other ranks send are not known: they are taken to be this rank's own");
    if (out.size() != before_.size()) return false;
    out = before_;
    return true;
  }
  void write(StateImage& image) const override {
    image.put_text(key_);
    image.put_signed(sender_);
    for (std::size_t i = 0; i < before_.size(); ++i) image.put_real(before_.at(i));
  }

 private:
  Interp& interp_;
  Mailbox& mailbox_;
  const std::string key_;
  const int sender_;
  const ops::Numbers before_;
};

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
  add("put_numbers(key, tensor)", [s, mailbox](Interp& in, Arguments& a) {
    const ops::Tensor& tensor = a.object<TensorObject>(1, "Tensor").tensor;
    if (mailbox == nullptr || !s->rank) return Value::none();
    const std::optional<ops::Numbers> numbers = ops::known_numbers(tensor);
    if (!numbers) return Value::none();
    const lang::Alike* alike = lang::alike_of(in);
    const std::vector<int> own{s->rank->index};
    for (const int rank : alike == nullptr ? own : alike->ranks())
      mailbox->messages.put(text_on(a[0], rank), rank, text_of(*numbers));
    return Value::none();
  });
  // The tensor holds the sender's numbers from here on. What nobody knew here stays unknown.
  add("take_numbers(key, sender, tensor)", [mailbox](Interp& in, Arguments& a) {
    const ops::Tensor& tensor = a.object<TensorObject>(2, "Tensor").tensor;
    if (mailbox == nullptr) return Value::none();
    std::optional<ops::Numbers> before = ops::known_numbers(tensor);
    const Value key = lang::pinned(in, a[0]);
    const Value& sender = lang::pinned(in, a[1]);
    const auto* text = key.as<lang::Str>();
    if (!before || text == nullptr) return Value::none();
    const Ref<ops::Known> known = tensor->storage->known();
    ops::Noted noted;
    noted.recipe = std::make_unique<Received>(
        in, *mailbox, text->text(), static_cast<int>(sender.as_int()), std::move(*before));
    ops::note_numbers(tensor, std::move(noted), known);
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
