#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "sim/lang/syntax/ast_members.h"
#include "sim/lang/syntax/global_table.h"

/// Images: data structures of one build that become constants of the next. What the library's files
/// are parsed and resolved to is written as data for the linker, so that nothing of it is read,
/// made or copied when a program starts: its pages are mapped when they are first looked at.
///
/// What can be written. Structs whose members each_member() gives: numbers, enumerators, pointers
/// to such structs and Seqs of them. An image is the struct that it begins with (its root) and all
/// that can be reached from there, each object once, however many refer to it, in the order in
/// which the members lead to them: what belongs together lies together.
///
/// The format. One block of bytes as the compiler lays the structs out, padding zero, and a list of
/// the places in it that hold the address of another byte of it. As an assembler's text the block
/// is a section of words, an address being `symbol + offset`: the linker of a program with fixed
/// addresses fills them in, that of a shared object leaves them to be relocated. So the generator
/// and the program must be compiled for the same machine, by compilers that agree on layouts (GCC
/// and Clang do), and the text is the same whichever compiled it.
///
/// What is not in it: objects of an interpreter. They are counted, and belong to one thread. Names
/// are ids in the image's own table of names, with which the interpreter's begins (names.h); a
/// literal text is a name too, of which an interpreter makes one str when it is evaluated; a
/// module's globals are numbered, so that its nodes say where each lives, and a Module that is made
/// for it has that numbering (global_table.h).
namespace tidemark::lang {

struct Image {
  struct Address {
    std::size_t at = 0;  ///< where it is to be, a multiple of the size of a pointer
    std::size_t to = 0;  ///< what is there, as an offset in the block
  };
  std::vector<std::byte> bytes;
  std::vector<Address> addresses;  ///< sorted by `at`
};

template <class Visit>
void each_member(const NameTable::Entry& e, const Visit& visit) {
  visit(e.text, e.hash);
}
template <class Visit>
void each_member(const NameTable& t, const Visit& visit) {
  visit(t.entries, t.slots);
}
template <class Visit>
void each_member(const GlobalTable& t, const Visit& visit) {
  visit(t.names, t.index);
}

/// The names of an image, from those that the texts were read with.
class NamesOfImage {
 public:
  explicit NamesOfImage(const Names& names);
  /// Good as long as this and the names.
  [[nodiscard]] NameTable table() const;

 private:
  std::vector<NameTable::Entry> entries_;
  std::vector<std::uint32_t> slots_;
};

/// Makes the image of a struct and all that it leads to.
/// Cost: linear in what is written; recursion as deep as the structs are nested.
class ImageWriter {
 public:
  template <class Root>
  Image write(const Root& root) {
    object(root);
    sort_addresses();
    return std::move(image_);
  }

 private:
  template <class T>
  struct IsSeq : std::false_type {};
  template <class T>
  struct IsSeq<Seq<T>> : std::true_type {};

  void sort_addresses();
  std::size_t reserve(std::size_t size, std::size_t alignment);
  void put(std::size_t at, const void* from, std::size_t size);

  /// Writes what lies at `value` to the reserved `at`, and what it leads to behind all else.
  template <class T>
  void fill(std::size_t at, const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      put(at, &value, sizeof(T));
    } else if constexpr (std::is_pointer_v<T>) {
      if (value != nullptr) image_.addresses.push_back({at, target(*value)});
    } else if constexpr (IsSeq<T>::value) {
      fill(at + offsetof(T, size), value.size);
      if (!value.empty()) image_.addresses.push_back({at + offsetof(T, data), list(value)});
    } else {
      each_member(value, [&](const auto&... members) {
        (fill(at + distance(&value, &members), members), ...);
      });
    }
  }

  static std::size_t distance(const void* from, const void* to) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(to) -
                                    static_cast<const std::byte*>(from));
  }

  // Where what is pointed to lies in the image.
  template <class T>
  std::size_t target(const T& value) {
    return object(value);
  }
  std::size_t target(const Expr& node) {
    return as_own_kind(node, [this](const auto& own) { return object(own); });
  }
  std::size_t target(const Stmt& node) {
    return as_own_kind(node, [this](const auto& own) { return object(own); });
  }
  std::size_t target(const Pattern& node) {
    return as_own_kind(node, [this](const auto& own) { return object(own); });
  }

  template <class T>
  std::size_t object(const T& value) {
    const auto [found, is_new] = written_.try_emplace(&value, 0);
    if (!is_new) return found->second;
    const std::size_t at = found->second = reserve(sizeof(T), alignof(T));
    fill(at, value);
    return at;
  }
  template <class T>
  std::size_t list(const Seq<T>& values) {
    const auto [found, is_new] = written_.try_emplace(values.data, 0);
    if (!is_new) return found->second;
    // A sequence of pointers is written as such. NOLINTNEXTLINE(bugprone-sizeof-expression)
    constexpr std::size_t kStep = sizeof(T);
    const std::size_t at = found->second = reserve(kStep * values.size, alignof(T));
    for (std::size_t i = 0; i < values.size; ++i) fill(at + i * kStep, values[i]);
    return at;
  }

  Image image_;
  std::unordered_map<const void*, std::size_t> written_;  // looked up, never walked
};

/// Writes the assembler's text that defines `symbol` as the image.
void write_assembler(const Image& image, std::string_view symbol, std::ostream& out);

}  // namespace tidemark::lang
