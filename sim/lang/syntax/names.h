#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lang/syntax/seq.h"

namespace tidemark::lang {

/// An interned identifier: equal texts have equal ids within one Names. Attribute, variable and
/// keyword names are compared as ids; no text is compared while a program runs.
enum class Name : std::uint32_t {};

/// Identifiers that the evaluator itself looks up. They are interned first, in this order, in every
/// Names, so that their ids are the same everywhere.
namespace name {
enum Known : std::uint32_t {
  kInit,
  kCall,
  kNew,
  kLen,
  kGetitem,
  kSetitem,
  kDelitem,
  kContains,
  kIter,
  kNext,
  kEnter,
  kExit,
  kRepr,
  kStr,
  kFormat,
  kBool,
  kHash,
  kInt,
  kFloat,
  kIndex,
  kGetattr,
  kSetattr,
  kDelattr,
  kReversed,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAdd,
  kSub,
  kMul,
  kMatmul,
  kTruediv,
  kFloordiv,
  kMod,
  kPow,
  kLshift,
  kRshift,
  kAnd,
  kOr,
  kXor,
  kRadd,
  kRsub,
  kRmul,
  kRmatmul,
  kRtruediv,
  kRfloordiv,
  kRmod,
  kRpow,
  kRlshift,
  kRrshift,
  kRand,
  kRor,
  kRxor,
  kIadd,
  kIsub,
  kImul,
  kImatmul,
  kItruediv,
  kIfloordiv,
  kImod,
  kIpow,
  kIlshift,
  kIrshift,
  kIand,
  kIor,
  kIxor,
  kNeg,
  kPos,
  kInvert,
  kAbs,
  kRound,
  kDivmod,
  kName,
  kQualname,
  kModule,
  kDoc,
  kClass,
  kDict,
  kBases,
  kMro,
  kFile,
  kAnnotations,
  kWrapped,
  kPostInit,
  kDel,
  kAll,
  kMissing,
  kSlots,
  kDefaults,
  kSelf,
  kFunc,
  kGet,
  kSet,
  kDeepcopy,
  kCopy,
  kInitSubclass,
  kCause,
  kContext,
  kTraceback,
  kArgs,
  kKwargs,
  kSelfWord,
  kCls,
  kSuperWord,
  kForward,
  kKeyWord,
  kDefaultWord,
  kReverseWord,
  kSetterWord,
  kGetterWord,
  kDeleterWord,
  kFget,
  kValue,
  kStart,
  kFn,
  kKnownCount
};
}  // namespace name

/// Identifiers that are part of the program: name::Known first, in their order.
struct NameTable {
  struct Entry {
    TextSeq text;
    std::uint64_t hash = 0;  ///< hash_name of it
  };
  Seq<const Entry> entries;        ///< by id
  Seq<const std::uint32_t> slots;  ///< open addressing by hash: id + 1; 0: free. A power of two
};

/// The table of identifiers of one interpreter.
/// Cost: intern is one hash and, for a new text, one copy; text is an index.
class Names {
 public:
  /// Those of the table have their ids there; null: of name::Known alone. Requires: the table
  /// outlives this.
  explicit Names(const NameTable* given = nullptr);
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  Name intern(std::string_view text);
  /// The id of a text that is already interned. Errors: false, `*out` untouched, when it is not.
  bool find(std::string_view text, Name* out) const;
  [[nodiscard]] std::string_view text(Name name) const {
    const auto id = static_cast<std::uint32_t>(name);
    return id < given_.entries.size ? view(given_.entries[id].text)
                                    : texts_[id - given_.entries.size];
  }
  [[nodiscard]] std::uint64_t hash(Name name) const {
    const auto id = static_cast<std::uint32_t>(name);
    return id < given_.entries.size ? given_.entries[id].hash : hashes_[id - given_.entries.size];
  }
  [[nodiscard]] std::size_t size() const { return given_.entries.size + texts_.size(); }
  /// The open-addressing table of all that is interned, as NameTable has it.
  [[nodiscard]] std::vector<std::uint32_t> slots() const;

 private:
  [[nodiscard]] std::uint32_t find_given(std::string_view text, std::uint64_t hash) const;
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  const NameTable given_;
  // The others; their ids go on behind those of the table.
  std::deque<std::string> storage_;      // stable addresses for texts_
  std::vector<std::string_view> texts_;  // by id
  std::vector<std::uint64_t> hashes_;    // by id
  std::vector<std::uint32_t> slots_;     // open addressing, index in texts_ + 1; 0: free
};

constexpr Name known(name::Known k) { return static_cast<Name>(k); }

}  // namespace tidemark::lang
