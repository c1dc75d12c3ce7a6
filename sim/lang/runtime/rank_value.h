#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/rank.h"
#include "sim/lang/runtime/class.h"
#include "sim/lang/runtime/interp.h"

/// What a program asks of its rank. One rank of a job runs; values that depend on the rank carry
/// those of the others beside their own. Where such a value decides something, the ranks for which
/// it would decide otherwise are parted from this one.
namespace tidemark::lang {

class RankValue;

/// A place at which other ranks do something else.
struct Parting {
  SourceSpan at;            ///< in the user's own code; no source: nowhere
  std::uint64_t ranks = 0;  ///< that part there
};

/// The ranks of a job that do what the one that runs does, as far as it has run. A rank that is
/// left at the end would have done the same, step by step.
class Alike {
 public:
  explicit Alike(const Rank& job);
  /// The same of some ranks, ascending; others are not asked about. Requires: the one that runs is
  /// among them.
  Alike(const Rank& job, std::vector<int> among) : job_(job), ranks_(std::move(among)) {}
  [[nodiscard]] const Rank& job() const { return job_; }
  /// Ascending; the one that runs is among them.
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
  /// A number of each rank. Cost: linear in the world; all operations on it, in the ranks left.
  Value numbers(Interp& interp, const std::function<std::int64_t(int rank)>& number);
  /// The same as texts.
  Value texts(Interp& interp, const std::function<std::int64_t(int rank)>& number);
  /// LOCAL_RANK, the same object each time.
  const Value& local_rank(Interp& interp);
  /// Parts those that do not fit from the one that runs. Requires: that one fits.
  void keep_only(const Interp& interp, const std::function<bool(int rank)>& fits);
  /// The same, of what no line of the program says.
  void keep_only(const std::function<bool(int rank)>& fits) { part(fits, {}); }
  /// In the order in which they were met; those of one place are one.
  [[nodiscard]] const std::vector<Parting>& partings() const { return partings_; }

  /// Is told of ranks, ascending, as they are parted; null: nobody is.
  std::function<void(const std::vector<int>& parted)> on_parting;
  /// items[index], where another floor knows that it is alike for all; Empty: it does not know.
  std::function<Value(Interp& interp, const std::vector<Value>& items, RankValue& index)> pick;
  /// The text of another floor's object, where it names the rank's own device; Empty: it does not.
  std::function<Value(Interp& interp, const Value& object)> text_of;
  /// The program made its own device the current one. Until then that is device 0 for all.
  bool has_device = false;
  /// Device `index` is named as such: the own one of this rank, or of another.
  void name_device(const Interp& interp, int index);
  /// Numbers that the value decides are taken for unknown, which another rank would do as well.
  void rest_on(Value value) { rests_on_.push_back(std::move(value)); }
  /// Something that is not known has decided. Where rest_on() took something, the rank's own run
  /// would have known it: is_void().
  void decide() { is_void_ = !rests_on_.empty(); }
  /// The run is none of the rank's: it has to be run without asking.
  [[nodiscard]] bool is_void() const { return is_void_; }
  /// The program has ended: what is held of it goes.
  void end();

 private:
  void part(const std::function<bool(int rank)>& fits, const std::function<SourceSpan()>& place);

  const Rank job_;
  std::vector<int> ranks_;
  std::vector<Parting> partings_;
  Value local_rank_;
  std::vector<Value> rests_on_;
  bool is_void_ = false;
};

/// Where the run asks which ranks do the same: what keeps account of that. Null: it does not ask.
Alike* alike_of(const Interp& interp);

/// A bool, int, float or str that is another on other ranks.
class RankValue final : public Instance {
 public:
  using Cells = std::shared_ptr<const std::vector<std::uint32_t>>;
  /// `of`: for each rank of the world the place of its value in `values`; those of ranks that have
  /// been parted are nobody's.
  RankValue(Heap& heap, Ref<ClassObject> type, Alike& alike, Cells of, std::vector<Value> values);
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }

  Value unary(Interp& interp, UnaryOp op) override;
  Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) override;
  Value compare(Interp& interp, CompareOp op, const Value& other) override;
  Value get_item(Interp& interp, const Value& key) override;
  std::optional<std::int64_t> length(Interp& interp) override;
  Value iterate(Interp& interp) override;
  std::optional<bool> contains(Interp& interp, const Value& item) override;
  bool truth(Interp& interp) override;
  std::optional<std::uint64_t> hash(Interp& interp) override;
  std::string repr(Interp& interp) override;
  std::string str(Interp& interp) override;
  std::string format(Interp& interp, std::string_view spec) override;
  Value deep_copy(Interp& interp, DeepCopies& copies) override;

  /// That of the rank that runs, for what no memory depends on: texts that are shown.
  [[nodiscard]] const Value& own() const;
  /// The same, which decides: ranks that have another are parted.
  const Value& pinned(const Interp& interp);
  /// Requires: the rank has not been parted.
  [[nodiscard]] const Value& of(int rank) const { return values_[(*of_)[index(rank)]]; }
  [[nodiscard]] Alike& alike() const { return alike_; }
  [[nodiscard]] const Cells& cells() const { return of_; }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFA;  // no other floor's
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  Alike& alike_;
  const Cells of_;
  const std::vector<Value> values_;
};

/// What `function` gives for the arguments, on each rank: a plain value where all agree. Requires:
/// it reads its arguments alone and changes nothing. Ranks on which it raises, or gives another
/// type, are parted; where it gives no plain value, all that have other arguments.
using Pure = std::function<Value(std::span<const Value> arguments)>;
Value by_rank(Interp& interp, std::span<const Value> arguments, const Pure& function);

inline bool is_of_rank(const Value& value) { return value.as<RankValue>() != nullptr; }
bool any_of_rank(std::span<const Value> values);
/// The plain value, which decides from here on; other values as they are.
const Value& pinned(const Interp& interp, const Value& value);
/// A text that is another on other ranks, of whatever has one; Empty: the value has none.
Value text_of_ranks(Interp& interp, const Value& value);
/// The plain value, for what no memory depends on; other values as they are.
const Value& shown(const Value& value);

}  // namespace tidemark::lang
