#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/lang/builtins/python.h"
#include "sim/lang/imports/library_reader.h"
#include "sim/lang/syntax/parser.h"

/// A program of the build:
///     library_compiler ROOTS OUTPUT
/// reads the files of sim/library (the folder ROOTS) and writes the C++ source OUTPUT, which has
/// their texts and the index of what each defines. What is wrong in a file is printed with its
/// place, and nothing is written. The same files give the same bytes.
namespace tidemark::library {
namespace {

namespace fs = std::filesystem;
using lang::LibraryEntries;
using lang::LibraryName;

/// A root: its folder, whose files' import names begin with its own name or not.
struct Root {
  std::string_view folder;
  bool is_package;  ///< torch/nn/init.py is torch.nn.init, python/os/path.py is os.path
};
constexpr Root kRoots[] = {
    {"python", false}, {"stand_ins", false}, {"numpy", true}, {"torch", true}};
constexpr std::string_view kNotModelled = "not_modelled.txt";

struct File {
  std::string module;  ///< "torch.nn"
  std::string path;    ///< "torch/nn/__init__.py"; empty: not modelled
  std::shared_ptr<const SourceText> source;
  LibraryEntries entries;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw IoError(path.string() + ": cannot be read");
  return text.str();
}

std::string module_name(std::string path) {
  for (const std::string_view end : {"/__init__.py", ".py"}) {
    if (!path.ends_with(end)) continue;
    path.resize(path.size() - end.size());
    break;
  }
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

/// The lines of a list, comments left out.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') names.push_back(line);
  }
  return names;
}

/// Reads the library; its problems are collected.
class Compiler {
 public:
  explicit Compiler(fs::path roots) : roots_(std::move(roots)) {}

  std::vector<File> read(const Root& root) {
    const fs::path folder = roots_ / root.folder;
    std::vector<File> files;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".py") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());  // a folder gives them in any order
    const fs::path base = root.is_package ? roots_ : folder;
    for (const fs::path& path : paths)
      files.push_back(read_file(path, fs::relative(path, base).generic_string()));
    if (fs::exists(folder / kNotModelled)) {
      for (std::string& name : listed(text_of(folder / kNotModelled)))
        files.push_back({std::move(name), {}, nullptr, {}});
    }
    std::sort(files.begin(), files.end(),
              [](const File& a, const File& b) { return a.module < b.module; });
    for (std::size_t i = 1; i < files.size(); ++i) {
      if (files[i].module == files[i - 1].module) {
        problems_.push_back({{},
                             {},
                             fmt::format("two files are the module '{}'", files[i].module),
                             "a module is a file or a folder with __init__.py"});
      }
    }
    return files;
  }

  /// Puts the names in the place of every `from module import *`. Requires: all roots are read.
  void expand_stars(std::vector<std::vector<File>>& roots) {
    std::map<std::string_view, File*> by_name;
    for (std::vector<File>& files : roots) {
      for (File& file : files) by_name[file.module] = &file;
    }
    for (std::vector<File>& files : roots) {
      for (File& file : files) expand_stars(file, by_name);
    }
  }

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  void expand_stars(File& file, const std::map<std::string_view, File*>& by_name) {
    // Taken out first: two modules that take all of each other end here.
    const std::vector<LibraryName> stars = std::exchange(file.entries.stars, {});
    std::vector<LibraryName>& names = file.entries.names;
    for (const LibraryName& star : stars) {
      const auto from = by_name.find(star.module);
      if (from == by_name.end() || from->second->path.empty()) {
        problems_.push_back({lang::span_of(file.source, star.place),
                             {},
                             fmt::format("the library has no file of the module '{}'", star.module),
                             "name what is taken of it"});
        continue;
      }
      expand_stars(*from->second, by_name);
      for (const LibraryName& each : lang::public_names(star.module, from->second->entries)) {
        const auto at = std::lower_bound(
            names.begin(), names.end(), each.name,
            [](const LibraryName& a, std::string_view name) { return a.name < name; });
        // A name that the file binds itself stays its own.
        if (at == names.end() || at->name != each.name) names.insert(at, each);
      }
    }
  }

  File read_file(const fs::path& path, const std::string& shown) {
    File file{module_name(shown), shown, nullptr, {}};
    file.source = std::make_shared<const SourceText>(SourceText{path.string(), text_of(path)});
    const std::size_t before = problems_.size();
    file.entries = lang::read_library_file(
        file.source, interp_.names(),
        [this](std::string_view name) {
          return interp_.find_builtin(interp_.intern(name)) != nullptr;
        },
        problems_);
    if (problems_.size() != before) return file;
    const Ref<lang::Module> globals = make_ref<lang::Module>(interp_.heap(), file.module);
    lang::resolve(
        *file.entries.tree, interp_.names(), [&](lang::Name name) { return globals->slot(name); },
        problems_);
    return file;
  }

  const fs::path roots_;
  lang::Python interp_{{}};
  std::vector<Problem> problems_;
};

/// Writes what was read as C++.
class Writer {
 public:
  std::string write(const std::vector<std::vector<File>>& roots) {
    out_ =
        "// Made from the files of sim/library by library_compiler.\n"
        "#include \"sim/library/library.h\"\n\n"
        "namespace tidemark::library {\nnamespace {\n\n"
        "using namespace std::string_view_literals;  // their lengths are known, not counted\n"
        "using lang::Library;\nusing lang::LibraryModule;\nusing lang::LibraryName;\n"
        "using lang::Place;\nusing Kind = LibraryName::Kind;\n\n";
    for (const std::vector<File>& files : roots) root(files);
    out_ += "}  // namespace\n\n";
    const auto function = [&](std::string_view name, std::size_t count) {
      out_ += fmt::format(
          "std::span<const Library* const> {}() {{\n"
          "  static constexpr const Library* kRoots[] = {{",
          name);
      for (std::size_t i = 0; i < count; ++i) out_ += fmt::format("&kRoot{}, ", i);
      out_ += "};\n  return kRoots;\n}\n\n";
    };
    function("all", roots.size());
    function("python", 2);  // kRoots: python and stand_ins
    out_ +=
        "const LibraryModule* find(std::string_view name) {\n"
        "  for (const Library* root : all()) {\n"
        "    if (const LibraryModule* found = root->find(name)) return found;\n"
        "  }\n"
        "  return nullptr;\n"
        "}\n\n";
    return out_ + "}  // namespace tidemark::library\n";
  }

 private:
  void root(const std::vector<File>& files) {
    std::string rows;
    for (const File& file : files) {
      if (file.path.empty()) {
        rows += fmt::format("    {{\"{}\"sv, {{}}, {{}}, {{}}, {{}}}},\n", file.module);
        continue;
      }
      const std::size_t id = count_++;
      const LibraryEntries& entries = file.entries;
      out_ += fmt::format("constexpr std::string_view kText{} =\n{};\n", id,
                          literal(file.source->text));
      if (!entries.names.empty()) {
        out_ += fmt::format("constexpr LibraryName kNames{}[] = {{\n", id);
        for (const LibraryName& each : entries.names) out_ += name_row(each);
        out_ += "};\n";
      }
      if (!entries.statements.empty()) {
        out_ += fmt::format("constexpr Place kStatements{}[] = {{", id);
        for (const lang::Place& each : entries.statements)
          out_ += fmt::format("{{{}, {}}}, ", each.begin, each.end);
        out_ += "};\n";
      }
      rows += fmt::format("    {{\"{}\"sv, \"{}\"sv, kText{}, {}, {}}},\n", file.module, file.path,
                          id, entries.names.empty() ? "{}" : fmt::format("kNames{}", id),
                          entries.statements.empty() ? "{}" : fmt::format("kStatements{}", id));
    }
    const std::size_t id = roots_++;
    out_ += fmt::format("constexpr LibraryModule kModules{}[] = {{\n{}}};\n", id, rows);
    out_ += fmt::format("constexpr Library kRoot{}{{kModules{}}};\n\n", id, id);
  }

  static std::string name_row(const LibraryName& each) {
    static constexpr std::string_view kKinds[] = {"kDefinition", "kStatement", "kModule",
                                                  "kMember"};
    return fmt::format("    {{\"{}\"sv, Kind::{}, {{{}, {}}}, \"{}\"sv, \"{}\"sv}},\n", each.name,
                       kKinds[static_cast<std::size_t>(each.kind)], each.place.begin,
                       each.place.end, each.module, each.member);
  }

  /// A text as literals that the language joins: compilers limit the length of one.
  static std::string literal(const std::string& text) {
    constexpr std::size_t kPiece = 8000;
    std::string out;
    for (std::size_t at = 0; at < text.size() || at == 0; at += kPiece)
      out += fmt::format("    R\"library({})library\"sv", text.substr(at, kPiece));
    return out;
  }

  std::string out_;
  std::size_t count_ = 0;
  std::size_t roots_ = 0;
};

int compile(const fs::path& roots, const fs::path& output) {
  Compiler compiler(roots);
  std::vector<std::vector<File>> files;
  for (const Root& root : kRoots) files.push_back(compiler.read(root));
  compiler.expand_stars(files);
  if (!compiler.problems().empty()) {
    fmt::print(stderr, "{}", render_problems(compiler.problems()));
    return 1;
  }
  const std::string text = Writer().write(files);
  std::ofstream file(output, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw IoError(output.string() + ": cannot be written");
  return 0;
}

}  // namespace
}  // namespace tidemark::library

int main(int count, char** arguments) {
  if (count != 3) {
    fmt::print(stderr, "library_compiler ROOTS OUTPUT\n");
    return 2;
  }
  try {
    return tidemark::library::compile(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
