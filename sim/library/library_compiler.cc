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
#include "sim/lang/imports/image.h"
#include "sim/lang/imports/library_reader.h"
#include "sim/lang/syntax/parser.h"
#include "sim/library/known_names.h"

/// A program of the build:
///     library_compiler ROOTS OUTPUT
/// reads the files of sim/library (the folder ROOTS), resolves them and writes the assembler's text
/// OUTPUT, which has the image of them all (lang/imports/image.h) under the name that library.cc
/// knows. What is wrong in a file is printed with its place, and nothing is written. The same files
/// give the same bytes.
namespace tidemark::library {
namespace {

namespace fs = std::filesystem;
using lang::LibraryEntries;
using lang::LibraryModule;
using lang::LibraryName;
using lang::Name;

/// A root: its folder, whose files' import names begin with its own name or not.
struct Root {
  std::string_view folder;
  bool is_package;  ///< torch/nn/init.py is torch.nn.init, python/os/path.py is os.path
  bool stands_in = false;
};
constexpr Root kRoots[] = {{"python", false},
                           {"outside", false},
                           {"stand_ins", false, true},
                           {"numpy", true},
                           {"torch", true}};
constexpr std::string_view kNotModelled = "not_modelled.txt";
constexpr std::string_view kNames[] = {"numpy/names.txt", "torch/names.txt"};
constexpr std::string_view kSymbol = "tidemark_library_image";

struct File {
  std::string module;  ///< "torch.nn"
  std::string path;    ///< "torch/nn/__init__.py"; empty: not modelled
  std::shared_ptr<const SourceText> source;
  LibraryEntries entries;
  lang::GlobalNames globals;
  LibraryModule row;
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

/// What is known of the names of a module or class.
struct Owner {
  lang::TextSeq name;
  std::vector<KnownName> names;
};

/// The minor number of "2.11"; `fallback`: of an empty text.
std::uint8_t minor_of(std::string_view text, std::uint8_t fallback) {
  if (text.empty()) return fallback;
  return static_cast<std::uint8_t>(std::stoi(std::string(text.substr(text.find('.') + 1))));
}

/// Reads the library; its problems are collected.
class Compiler {
 public:
  explicit Compiler(fs::path roots) : roots_(std::move(roots)) {
    // What hosts bind as built-ins, which are a table by id: these are small.
    names().intern("__tidemark_session__");
  }

  std::vector<File> read(const Root& root) {
    const fs::path folder = roots_ / root.folder;
    std::vector<File> files;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".py") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());  // a folder gives them in any order
    const fs::path base = root.is_package ? roots_ : folder;
    files.reserve(paths.size());
    for (const fs::path& path : paths)
      files.push_back(read_file(path, fs::relative(path, base).generic_string()));
    if (fs::exists(folder / kNotModelled)) {
      for (std::string& name : listed(text_of(folder / kNotModelled))) {
        const bool has_file = std::any_of(files.begin(), files.end(),
                                          [&](const File& file) { return file.module == name; });
        if (!has_file) files.push_back({std::move(name), {}, nullptr, {}, {}, {}});
      }
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

  /// Puts the names in the place of every `from module import *`, and resolves all files.
  /// Requires: all roots are read.
  void finish(std::vector<std::vector<File>>& roots) {
    std::map<Name, File*> by_name;
    for (std::vector<File>& files : roots) {
      for (File& file : files) by_name[names().intern(file.module)] = &file;
    }
    for (std::vector<File>& files : roots) {
      for (File& file : files) expand_stars(file, by_name);
    }
    if (!problems_.empty()) return;
    for (std::vector<File>& files : roots) {
      for (File& file : files) {
        resolve(file);
      }
    }
  }

  /// The names of each names.txt, as tools/known_names.py writes it.
  std::vector<Owner> read_names() {
    std::vector<Owner> owners;
    for (const std::string_view path : kNames) {
      std::istringstream words(text_of(roots_ / path));
      std::string word;
      while (words >> word) {
        if (word == "#") {
          std::getline(words, word);
        } else if (word.ends_with(':')) {
          word.pop_back();
          owners.push_back({text(word), {}});
        } else {
          owners.back().names.push_back(known_name(word));
        }
      }
    }
    std::sort(owners.begin(), owners.end(),
              [](const Owner& a, const Owner& b) { return view(a.name) < view(b.name); });
    for (Owner& each : owners) {
      std::sort(each.names.begin(), each.names.end(),
                [](const KnownName& a, const KnownName& b) { return a.name < b.name; });
    }
    return owners;
  }

  lang::Names& names() { return interp_.names(); }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  void expand_stars(File& file, const std::map<Name, File*>& by_name) {
    // Taken out first: two modules that take all of each other end here.
    const auto stars = std::exchange(file.entries.stars, {});
    std::vector<LibraryName>& own = file.entries.names;
    for (const LibraryEntries::Star& star : stars) {
      const auto from = by_name.find(star.module);
      if (from == by_name.end() || from->second->path.empty()) {
        problems_.push_back(
            {lang::span_of(file.source, star.place),
             {},
             fmt::format("the library has no file of the module '{}'", names().text(star.module)),
             "name what is taken of it"});
        continue;
      }
      expand_stars(*from->second, by_name);
      for (const LibraryName& each :
           lang::public_names(star.module, from->second->entries, names())) {
        const auto at = std::lower_bound(own.begin(), own.end(), names().text(each.name),
                                         [this](const LibraryName& a, std::string_view name) {
                                           return names().text(a.name) < name;
                                         });
        // A name that the file binds itself stays its own.
        if (at == own.end() || at->name != each.name) own.insert(at, each);
      }
    }
  }

  File read_file(const fs::path& path, const std::string& shown) {
    File file{module_name(shown), shown, nullptr, {}, {}, {}};
    file.source = std::make_shared<const SourceText>(SourceText{path.string(), text_of(path)});
    file.entries = lang::read_library_file(
        file.source, names(),
        [this](std::string_view name) {
          return interp_.find_builtin(interp_.intern(name)) != nullptr;
        },
        problems_);
    return file;
  }

  /// "fft", "pi=", "newaxis=None", "igamma@2.6-2.9", "e=@2.12-".
  KnownName known_name(std::string_view word) {
    KnownName known;
    const std::size_t at = word.find('@');
    if (at != std::string_view::npos) {
      const std::string_view span = word.substr(at + 1);
      const std::size_t dash = span.find('-');
      known.from = minor_of(span.substr(0, dash), known.from);
      known.to = minor_of(span.substr(dash + 1), known.to);
      word = word.substr(0, at);
    }
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      known.kind = word.ends_with("=None") ? KnownName::Kind::kNone : KnownName::Kind::kValue;
      word = word.substr(0, equals);
    }
    known.name = names().intern(word);
    return known;
  }

  void resolve(File& file) {
    file.row.name = text(file.module);
    if (file.path.empty()) return;
    file.row =
        lang::resolve_library_file(file.row.name, file.entries, file.globals, names(), problems_);
    // What is wrong when it runs is told by the path below the root.
    file.entries.tree->file.name = text(fmt::format("<{}>", file.path));
  }

  /// A copy that lives as long as the names.
  lang::TextSeq text(std::string_view copied) {
    const std::string_view kept = names().text(names().intern(copied));
    return {kept.data(), static_cast<std::uint32_t>(kept.size())};
  }

  const fs::path roots_;
  lang::Python interp_{{}};
  std::vector<Problem> problems_;
};

template <class T>
lang::Seq<const T> seq(const std::vector<T>& items) {
  return {items.data(), static_cast<std::uint32_t>(items.size())};
}

/// The image of what was read.
lang::Image image_of(const std::vector<std::vector<File>>& roots, const std::vector<Owner>& known,
                     const lang::Names& names) {
  std::vector<std::vector<LibraryModule>> modules;
  std::vector<lang::Library> libraries;
  modules.reserve(roots.size());
  libraries.reserve(roots.size());
  for (const std::vector<File>& files : roots) {
    std::vector<LibraryModule>& rows = modules.emplace_back();
    for (const File& file : files) rows.push_back(file.row);
    libraries.push_back({seq(rows), kRoots[libraries.size()].stands_in});
  }
  std::vector<KnownNames> owners;
  owners.reserve(known.size());
  for (const Owner& each : known) owners.push_back({each.name, seq(each.names)});
  const lang::NamesOfImage table(names);
  return lang::ImageWriter().write(
      Image{lang::LibraryImage{table.table(), seq(libraries)}, seq(owners)});
}

int compile(const fs::path& roots, const fs::path& output) {
  Compiler compiler(roots);
  std::vector<std::vector<File>> files;
  for (const Root& root : kRoots) files.push_back(compiler.read(root));
  compiler.finish(files);
  const std::vector<Owner> known = compiler.read_names();
  if (!compiler.problems().empty()) {
    fmt::print(stderr, "{}", render_problems(compiler.problems()));
    return 1;
  }
  std::ofstream file(output, std::ios::binary);
  lang::write_assembler(image_of(files, known, compiler.names()), kSymbol, file);
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
