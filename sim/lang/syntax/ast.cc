#include "sim/lang/syntax/ast.h"

namespace tidemark::lang {

namespace {

TextSeq characters(const std::string& text) {
  return {text.data(), static_cast<std::uint32_t>(text.size())};
}

}  // namespace

SyntaxTree::SyntaxTree(std::shared_ptr<const SourceText> parsed)
    : source(std::move(parsed)), file{characters(source->name), characters(source->text), this} {}

std::shared_ptr<const SourceText> CodeFile::source() const {
  if (tree != nullptr) return tree->source;
  return std::make_shared<const SourceText>(
      SourceText{std::string(view(name)), std::string(view(text))});
}

std::shared_ptr<const Code> shared_code(const Code& code) {
  SyntaxTree* const tree = code.file->tree;
  if (tree != nullptr) return {tree->shared_from_this(), &code};
  return {std::shared_ptr<const void>(), &code};  // nobody counts who refers to it
}

}  // namespace tidemark::lang
