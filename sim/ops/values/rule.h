#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/ops/registry.h"
#include "sim/ops/values/generator.h"
#include "sim/ops/values/view.h"

/// How operators' numbers come of those of their arguments.
namespace tidemark::ops {

/// One call as a rule sees it: tensors as views of their numbers, the rest as it was given, and the
/// look of what comes out.
class ValueCall {
 public:
  struct Given {
    Argument plain;           ///< None in the place of tensors
    std::vector<View> views;  ///< of a tensor, or of each of a list
    bool is_tensor = false;
    bool is_list = false;
  };

  std::vector<Given> given;
  Dims sizes;  ///< of the result
  ScalarType dtype = ScalarType::kFloat32;
  std::size_t which = 0;  ///< of several results

  [[nodiscard]] bool is_tensor(std::size_t i) const {
    return i < given.size() && given[i].is_tensor;
  }
  [[nodiscard]] const Argument& plain(std::size_t i) const { return given[i].plain; }
  [[nodiscard]] const View& view(std::size_t i) const { return given[i].views.front(); }
  [[nodiscard]] bool is_none(std::size_t i) const {
    return i >= given.size() || (!given[i].is_tensor && std::holds_alternative<None>(plain(i)));
  }
  [[nodiscard]] double number(std::size_t i, double otherwise = 0) const;
  [[nodiscard]] std::int64_t integer(std::size_t i, std::int64_t otherwise = 0) const {
    return static_cast<std::int64_t>(number(i, static_cast<double>(otherwise)));
  }
  [[nodiscard]] bool flag(std::size_t i) const { return number(i) != 0; }
  /// A tensor's numbers, or a number's, under the shape of the result.
  [[nodiscard]] std::optional<Numbers> spread(std::size_t i) const;
  /// A tensor's own numbers.
  [[nodiscard]] std::optional<Numbers> own(std::size_t i) const { return numbers_of(view(i)); }
  /// dim in [0, rank) of the argument `i`, of a tensor with so many dimensions.
  [[nodiscard]] std::size_t dim(std::size_t i, std::size_t rank, std::int64_t otherwise = 0) const;
};

/// Fills `out`, of the call's type and as many numbers as its sizes say. False: not known.
using MakeNumbers = bool (*)(const ValueCall& call, Numbers& out);
using OfOne = double (*)(double x);
using OfTwo = double (*)(double x, double y);
/// One number of the result comes of one of the first argument, or of one of each of two.
bool make_of_one(OfOne function, const ValueCall& call, Numbers& out);
bool make_of_two(OfTwo function, const ValueCall& call, Numbers& out);

/// What a call draws on the host.
struct DrawPlan {
  enum class What : std::uint8_t { kNothing, kNumbers, kUnknown };
  What what = What::kNumbers;  ///< kUnknown: how far the generator goes on is not known either
  bool is_result = false;      ///< what is drawn is the result, although the rule has a `make`
  DrawSpec spec;
  ScalarType dtype = ScalarType::kFloat32;
  std::int64_t numel = 0;
};

struct ValueRule {
  enum class Kind : std::uint8_t {
    kPlain,      ///< all tensors among the arguments must be known
    kWhole,      ///< and be of integers or truths
    kFresh,      ///< looks at no tensor's numbers
    kOverwrite,  ///< does not look at the first, which it writes over
    kHealthy,    ///< of unknown numbers it is taken to find no fault
    kSettling,   ///< of whole numbers one side may settle the result, whatever the other is
    kDraw,       ///< random numbers, where it runs on the host
  };
  std::string_view name;
  Kind kind = Kind::kPlain;
  /// Of kDraw: null, the draws are the result; else it sees them as one more tensor at the end.
  MakeNumbers make = nullptr;
  DrawPlan (*draw)(const Arguments& a, const Tensor& result) = nullptr;
  std::size_t outputs = 1;  ///< how many results it knows of
  bool healthy = false;     ///< what a check without a fault says
  OfOne of_one = nullptr;   ///< in the place of `make`
  OfTwo of_two = nullptr;   ///< likewise
  /// Known of host tensors alone: in which order a device adds, and so rounds, is not known.
  bool on_host = false;
};

/// The rule of an operator, `add_` as `add`; null: none.
const ValueRule* value_rule(std::string_view op);

/// Python's x % y.
double modulo(double x, double y);

/// The rules by family; those of records are compiled from them.
std::span<const ValueRule> recorded_values();
std::span<const ValueRule> elementwise_values();
std::span<const ValueRule> reduction_values();
std::span<const ValueRule> pooling_values();
std::span<const ValueRule> arranging_values();
std::span<const ValueRule> selecting_values();
std::span<const ValueRule> writing_values();
std::span<const ValueRule> statistics_values();
std::span<const ValueRule> factory_values();

/// Notes what a rule makes of a call. `noted`: what holds of its arguments.
void note_made_by(const ValueRule& rule, ValueCall call, const Tensor& result, Noted noted,
                  const Ref<Known>& before);
/// x[indices] was read into `result`. Indices that are not defined stand for a whole dimension.
void note_index(const Tensor& self, const TensorList& indices, const Tensor& result);
/// x[indices] = values was written. `before`: what was known of the storage until then.
void note_index_put(const Tensor& self, const TensorList& indices, const View& values,
                    const Ref<Known>& before);
/// `found` has the places of what is not zero, a row each.
void note_nonzero(const Tensor& self, const Tensor& found);
/// `result` is made of so many of the rows of `self`, which are in it by their numbers.
void note_rows(const Tensor& self, std::vector<std::int64_t> rows, const Tensor& result);

/// One call of an operator: made before it runs, since it may write over its arguments.
class ValueWork {
 public:
  /// `writes`: over its first argument. Cost: constant unless all tensors are known.
  ValueWork(const ValueRule* rule, bool writes, const Arguments& arguments, std::size_t count);
  /// Notes what is known of the results. `generator`: where random numbers come from.
  void note(const OpResult& result, const Arguments& arguments, Generator& generator);

 private:
  void draw(const Tensor& result, const Arguments& arguments, Generator& generator);
  /// A device's integers and small uniform numbers: one draw of the host's stands for them where a
  /// branch hangs on them, which is told.
  void stand_in(const Tensor& result, const Arguments& arguments);
  void note_made(const Tensor& result, std::size_t which);

  const ValueRule* rule_;
  bool writes_;
  bool is_known_ = false;  ///< enough of the arguments is
  bool is_random_ = false;
  bool is_assumed_ = false;
  std::uint32_t depth_ = 0;
  std::vector<ValueCall::Given> given_;
  Ref<Known> before_;  ///< of what is written over
};

}  // namespace tidemark::ops
