#pragma once

#include <cstdint>
#include <string_view>

#include "sim/lang/imports/library_index.h"

/// The public names of the modules of PyTorch and NumPy, and of tensors, modelled or not, with the
/// releases that have them (names.txt of a package, which the build reads). The names are ids of
/// the library's own table.
namespace tidemark::library {

struct KnownName {
  enum class Kind : std::uint8_t {
    kCode,   ///< a function, class or module
    kValue,  ///< a value that is not told
    kNone,   ///< None
  };
  lang::Name name{};
  std::uint8_t from = 0;  ///< the minor number of the first release that has it, and of the last
  std::uint8_t to = 255;
  Kind kind = Kind::kCode;
};

struct KnownNames {
  lang::TextSeq owner;               ///< "torch.nn", "torch.Tensor"
  lang::Seq<const KnownName> names;  ///< sorted by id; one may have several spans of releases

  /// nullptr: that release does not have it. Cost: logarithmic.
  [[nodiscard]] const KnownName* find(lang::Name name, std::uint8_t release) const;
};

/// Sorted by owner.
lang::Seq<const KnownNames> known_names();
/// nullptr: nothing is known of its names. Cost: logarithmic.
const KnownNames* known_names(std::string_view owner);

/// What library_compiler writes.
struct Image {
  lang::LibraryImage library;
  lang::Seq<const KnownNames> known;
};

template <class Visit>
void each_member(const KnownName& n, const Visit& visit) {
  visit(n.name, n.from, n.to, n.kind);
}
template <class Visit>
void each_member(const KnownNames& n, const Visit& visit) {
  visit(n.owner, n.names);
}
template <class Visit>
void each_member(const Image& i, const Visit& visit) {
  visit(i.library, i.known);
}

}  // namespace tidemark::library
