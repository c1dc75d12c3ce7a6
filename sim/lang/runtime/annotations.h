#pragma once

#include <vector>

#include "sim/lang/runtime/frame.h"

namespace tidemark::lang {

/// What a class's annotations are made of. Nothing evaluates them before someone looks: a library's
/// name a great deal that a program never needs. The dict holds their texts until then, and this as
/// its default_factory.
class LateAnnotations final : public Instance {
 public:
  LateAnnotations(Interp& interp, const Frame& body);
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  const std::shared_ptr<const Code> code;  ///< of the class body
  Ref<Module> globals;
  std::vector<Ref<Cell>> closure;
  std::vector<AnnotatedName> rows;  ///< not evaluated yet
  Ref<ClassObject> owner;           ///< null: not made yet

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFD;  // no other floor's
};

/// The dict of a class body's annotations, as texts.
Ref<Dict> late_annotations(Interp& interp, const Frame& body,
                           const std::vector<AnnotatedName>& rows);
/// A function's attribute, which no program sees: the values of local names, as a dict.
inline constexpr std::string_view kLocalNames = "<local names>";
/// Of a function that is made in another: what its annotations name there, as it is now. Cost: the
/// texts of its annotations.
void keep_local_names(Interp& interp, const Frame& frame, Function& function);
/// Tells a class's annotations whose they are. Cost: a look-up.
void own_annotations(ClassObject& type);
/// Evaluates what of a dict of annotations still is text, in the namespace of the class, the names
/// round it and its module as they are now; in a file that asks for texts (`from __future__ import
/// annotations`) they stay texts, as CPython writes them. `names`: the namespace of a class that is
/// not made yet. Any other value is left alone. Errors: those of the expressions.
void settle_annotations(Interp& interp, const Value& held, AttrMap* names = nullptr);
/// The same of one name; Empty: the class annotates no such name.
Value annotation_of(Interp& interp, ClassObject& type, Name name);
/// type.__annotations__: a class's own, an empty dict where it has none. Empty: a type of C.
Value annotations_of(Interp& interp, ClassObject& type);
/// What an annotation, given as its text, is worth in a function's or class's file: its value, or
/// its text as CPython writes it where the file asks for texts.
bool asks_for_texts(Interp& interp, const Code& code);
Value written_annotation(Interp& interp, const std::string& text);

}  // namespace tidemark::lang
