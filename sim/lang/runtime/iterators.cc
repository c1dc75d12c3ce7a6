#include "sim/lang/runtime/iterators.h"

#include <algorithm>
#include <cstring>

#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/values/utf8.h"

namespace tidemark::lang {

SequenceIterator::SequenceIterator(Heap& heap, Value sequence, bool backward)
    : Iterator(heap), sequence_(std::move(sequence)), backward_(backward) {
  if (backward_) at_ = items()->size();
}

TextLines* SequenceIterator::lines() const {
  const List* list = backward_ ? nullptr : sequence_.as<List>();
  return list == nullptr ? nullptr : list->items.lines().get();
}

std::size_t SequenceIterator::upcoming_line() const {
  return sequence_.as<List>()->items.first_line() + at_;
}

const std::vector<Value>* SequenceIterator::items() const {
  if (const List* list = sequence_.as<List>()) return &list->items.all();
  if (const Tuple* tuple = sequence_.as<Tuple>()) return &tuple->items;
  return nullptr;
}

Value SequenceIterator::next(Interp& /*interp*/) {
  if (TextLines* text = lines()) {
    Value line = text->line(upcoming_line());
    if (line.empty()) {
      sequence_.reset();
    } else {
      ++at_;
    }
    return line;
  }
  const std::vector<Value>* sequence = items();
  if (sequence == nullptr) return {};
  if (backward_) {
    if (at_ > 0 && at_ <= sequence->size()) return (*sequence)[--at_];
  } else if (at_ < sequence->size()) {
    return (*sequence)[at_++];
  }
  sequence_.reset();
  return {};
}

std::span<const Value> SequenceIterator::upcoming() const {
  const std::vector<Value>* sequence = items();
  if (sequence == nullptr || backward_ || at_ >= sequence->size()) return {};
  return std::span<const Value>(*sequence).subspan(at_);
}

Value EnumerateIterator::next(Interp& interp) {
  interp.check_stack();
  if (held_.empty()) return {};
  const Ref<EnumerateIterator> keep(this);
  Value item = static_cast<Iterator*>(held_[0].object())->next(interp);
  if (item.empty()) return {};
  const Value number = Value::integer(number_);
  number_ = number_ == INT64_MAX ? INT64_MAX : number_ + 1;
  Tuple* pair = held_[1].as<Tuple>();
  if (pair == nullptr || pair->use_count() != 1) return interp.tuple({number, std::move(item)});
  pair->items[0] = number;
  pair->items[1] = std::move(item);
  return held_[1];
}

SequenceIterator* EnumerateIterator::sequence() const {
  return held_.empty() ? nullptr : dynamic_cast<SequenceIterator*>(held_[0].object());
}

void EnumerateIterator::skip(std::size_t count) {
  sequence()->skip(count);
  number_ += static_cast<std::int64_t>(count);
}

std::string_view SequenceIterator::type_name() const {
  if (sequence_.as<Tuple>() != nullptr) return "tuple_iterator";
  return backward_ ? "list_reverseiterator" : "list_iterator";
}

std::optional<std::int64_t> SequenceIterator::length_hint() const {
  const std::vector<Value>* sequence = items();
  if (sequence == nullptr) return 0;
  return static_cast<std::int64_t>(backward_ ? at_
                                             : sequence->size() - std::min(at_, sequence->size()));
}

// As long as the shortest of those that zip() and map() go through.
bool FunctionIterator::is_endless() const {
  if (type_ != "zip" && type_ != "map") return false;
  bool has_any = false;
  for (const Value& each : held_) {
    const auto* inner = each.as<Iterator>();
    if (inner != nullptr && !inner->is_endless()) return false;
    has_any = has_any || inner != nullptr;
  }
  return has_any;
}

Value RangeIterator::next(Interp& /*interp*/) {
  if (left_ == 0) return {};
  const std::int64_t value = next_;
  if (--left_ > 0) next_ += step_;
  return Value::integer(value);
}

std::int64_t utf8_length(std::string_view text) { return count_code_points(text); }

std::size_t utf8_offset(std::string_view text, std::int64_t i) {
  std::size_t at = 0;
  // Eight at a time while there is nothing but ASCII.
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  for (std::uint64_t eight = 0; i >= 8 && text.size() - at >= sizeof eight; i -= 8) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & kHighBits) != 0) break;
    at += sizeof eight;
  }
  // What follows a whole character of eight begins one.
  for (; i > 0 && at < text.size(); --i) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  }
  return at;
}

Value StrIterator::next(Interp& interp) {
  if (!text_) return {};
  const std::string_view rest = std::string_view(text_->text()).substr(at_);
  if (rest.empty()) {
    text_.reset();
    return {};
  }
  const std::size_t size = utf8_offset(rest, 1);
  at_ += size;
  return interp.str(std::string(rest.substr(0, size)));
}

std::string_view StrIterator::upcoming() const {
  return text_ ? std::string_view(text_->text()).substr(at_) : std::string_view();
}

TableIterator::TableIterator(Heap& heap, Value container, DictPart part, bool backward)
    : Iterator(heap), container_(std::move(container)), part_(part), backward_(backward) {
  if (Set* set = container_.as<Set>()) set->settle();
  size_ = table()->size();
  if (backward_) at_ = table()->entries().size();
}

ValueTable* TableIterator::table() const {
  if (Dict* dict = container_.as<Dict>()) return &dict->table;
  if (Set* set = container_.as<Set>()) return &set->table;
  return nullptr;
}

std::string_view TableIterator::type_name() const {
  if (container_.as<Set>() != nullptr) return "set_iterator";
  switch (part_) {
    case DictPart::kKeys:
      return "dict_keyiterator";
    case DictPart::kValues:
      return "dict_valueiterator";
    case DictPart::kItems:
      return "dict_itemiterator";
  }
  return "iterator";
}

void TableIterator::traverse(Visitor& visitor) const {
  visitor.visit(container_);
  visitor.visit(pair_);
}

Value TableIterator::next(Interp& interp) {
  ValueTable* entries = table();
  if (entries == nullptr) return {};
  if (entries->size() != size_) {
    const bool is_set = container_.as<Set>() != nullptr;
    container_.reset();
    interp.runtime_error(is_set ? "Set changed size during iteration"
                                : "dictionary changed size during iteration");
  }
  const std::vector<ValueTable::Entry>& all = entries->entries();
  const auto skip = [&] {
    if (backward_) {
      at_ = std::min(at_, all.size());
      while (at_ > 0 && all[at_ - 1].key.empty()) --at_;
      return at_ == 0;
    }
    while (at_ < all.size() && all[at_].key.empty()) ++at_;
    return at_ >= all.size();
  };
  if (skip()) {
    container_.reset();
    return {};
  }
  const ValueTable::Entry& entry = all[backward_ ? --at_ : at_++];
  switch (part_) {
    case DictPart::kKeys:
      return entry.key;
    case DictPart::kValues:
      return entry.value;
    case DictPart::kItems:
      break;
  }
  Value key = entry.key;
  Value value = entry.value;
  if (pair_ && pair_->use_count() == 1) {
    pair_->items[0].swap(key);
    pair_->items[1].swap(value);
    key.reset();
    value.reset();
    return pair_;
  }
  Ref<Tuple> pair =
      make_ref<Tuple>(interp.heap(), std::vector<Value>{std::move(key), std::move(value)});
  if (!pair_) pair_ = pair;
  return pair;
}

Value ObjectIterator::next(Interp& interp) {
  if (object_.empty()) return {};
  const Value keep = object_;
  try {
    if (!by_index_) return interp.call_special(keep, known(name::kNext));
    return interp.get_item(keep, Value::integer(at_++));
  } catch (Raised& raised) {
    const BuiltinClasses& classes = interp.classes();
    const ClassObject& end = by_index_ ? *classes.index_error : *classes.stop_iteration;
    if (!raised.exception->type().derives_from(end)) throw;
  }
  if (by_index_) object_.reset();
  return {};
}

Ref<Iterator> Interp::iterate(const Value& iterable) {
  if (has_code(iterable)) {
    const Value keep = iterable;
    Value iterator = ask_code(keep, known(name::kIter));
    if (iterator.as<Iterator>() != nullptr) return iterator.ref<Iterator>();
    if (!iterator.empty()) return make_ref<ObjectIterator>(heap(), std::move(iterator), false);
  }
  return builtin_iterate(iterable);
}

Ref<Iterator> Interp::builtin_iterate(const Value& iterable) {
  if (iterable.is_object()) {
    switch (iterable.object()->kind()) {
      case Kind::kList:
      case Kind::kTuple:
        return make_ref<SequenceIterator>(heap(), iterable);
      case Kind::kRange: {
        const auto& range = *static_cast<Range*>(iterable.object());
        return make_ref<RangeIterator>(heap(), range.start, range.step, range.length());
      }
      case Kind::kStr:
        return make_ref<StrIterator>(heap(), iterable.ref<Str>());
      case Kind::kDict:
      case Kind::kSet:
        return make_ref<TableIterator>(heap(), iterable, DictPart::kKeys);
      case Kind::kView: {
        const auto& view = *static_cast<DictView*>(iterable.object());
        return make_ref<TableIterator>(heap(), view.dict, view.part);
      }
      case Kind::kIterator:
        return iterable.ref<Iterator>();
      case Kind::kInstance:
      case Kind::kHost:
      case Kind::kException: {
        const Value keep = iterable;
        auto* instance = static_cast<Instance*>(keep.object());
        Value iterator = instance->iterate(*this);
        if (iterator.as<Iterator>() != nullptr) return iterator.ref<Iterator>();
        if (!iterator.empty()) {
          if (class_of(iterator).lookup(known(name::kNext)) == nullptr) {
            type_error("iter() returned non-iterator of type '" + type_name(iterator) + "'");
          }
          return make_ref<ObjectIterator>(heap(), std::move(iterator), false);
        }
        if (instance->type().lookup(known(name::kGetitem)) != nullptr) {
          return make_ref<ObjectIterator>(heap(), keep, true);
        }
        break;
      }
      default:
        break;
    }
  }
  type_error("'" + type_name(iterable) + "' object is not iterable");
}

bool Interp::iterable(const Value& value) {
  if (!value.is_object()) return false;
  switch (value.object()->kind()) {
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
    case Kind::kStr:
    case Kind::kDict:
    case Kind::kSet:
    case Kind::kView:
    case Kind::kIterator:
    case Kind::kHost:
      return true;
    case Kind::kInstance:
    case Kind::kException: {
      const ClassObject& type = class_of(value);
      return type.lookup(known(name::kIter)) != nullptr ||
             type.lookup(known(name::kGetitem)) != nullptr;
    }
    case Kind::kClass:
      return class_of(value).lookup(known(name::kIter)) != nullptr;
    default:
      return false;
  }
}

Ref<ClassObject> class_of_copy(Interp& in, const Dict& dict) {
  ClassObject* type = dict.type();
  const bool plain = type == nullptr || &type->builtin_base() == in.classes().dict.get();
  return Ref<ClassObject>(plain ? nullptr : type);
}

void extend(Interp& in, List& list, const Value& iterable) {
  const Ref<List> keep(&list);
  const auto append = [&](Value item) { list.items.push_back(std::move(item)); };
  const bool sequence = iterable.as<List>() != nullptr || iterable.as<Tuple>() != nullptr;
  if (sequence && !has_code(iterable)) {
    std::vector<Value> items = in.unpack(iterable);
    if (items.size() > in.limits().sequence - std::min(in.limits().sequence, list.items.size()))
      in.too_long();
    for (Value& item : items) append(std::move(item));
    return;
  }
  const Ref<Iterator> iterator = in.iterate(iterable);
  for (Value item = iterator->next(in); !item.empty(); item = iterator->next(in)) {
    in.step();
    if (list.items.size() >= in.limits().sequence) in.too_long();
    append(std::move(item));
  }
}

std::vector<Value> Interp::unpack(const Value& iterable) {
  if (!has_code(iterable)) {
    if (const List* list = iterable.as<List>()) return list->items;
    if (const Tuple* tuple = iterable.as<Tuple>()) return tuple->items;
  }
  const Ref<Iterator> iterator = iterate(iterable);
  std::vector<Value> out;
  while (true) {
    Value item = iterator->next(*this);
    if (item.empty()) return out;
    step();
    if (out.size() >= options_.limits.sequence) too_long();
    out.push_back(std::move(item));
  }
}

std::vector<Value> TableIterator::upcoming(Interp& interp) {
  const std::size_t at = at_;
  Value container = container_;
  std::vector<Value> items;
  for (Value item = next(interp); !item.empty(); item = next(interp)) items.push_back(item);
  container_ = std::move(container);
  at_ = at;
  return items;
}

Value copied_iterator(Interp& interp, const Value& iterator,
                      const std::function<Value(const Value&)>& copied) {
  Object* object = iterator.object();
  const auto over = [&](Value sequence) -> Value {
    return make_ref<SequenceIterator>(interp.heap(), std::move(sequence));
  };
  const auto copies = [&](const auto& items) {
    const std::vector<Value> left(items.begin(), items.end());
    std::vector<Value> out;
    out.reserve(left.size());
    for (const Value& item : left) out.push_back(copied(item));
    return out;
  };
  if (const auto* range = dynamic_cast<RangeIterator*>(object)) {
    return make_ref<RangeIterator>(interp.heap(), range->upcoming(), range->step(), range->left());
  }
  if (const auto* text = dynamic_cast<StrIterator*>(object)) {
    return make_ref<StrIterator>(interp.heap(),
                                 interp.str(std::string(text->upcoming())).ref<Str>());
  }
  if (const auto* sequence = dynamic_cast<SequenceIterator*>(object)) {
    if (sequence->type_name() == "list_iterator")
      return over(interp.list(copies(sequence->upcoming())));
    if (sequence->type_name() == "tuple_iterator")
      return over(interp.tuple(copies(sequence->upcoming())));
    return {};
  }
  if (auto* table = dynamic_cast<TableIterator*>(object))
    return over(interp.list(copies(table->upcoming(interp))));
  return {};
}

}  // namespace tidemark::lang
