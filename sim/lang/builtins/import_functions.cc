#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/lang/builtins/library.h"
#include "sim/lang/imports/host_view.h"
#include "sim/lang/runtime/importer.h"
#include "sim/lang/runtime/rank_value.h"

/// What the library's files need of the import system and of the files that a program may see.
namespace tidemark::lang {

namespace {

/// Where a path that a program gives may be: as it is, then in the script's folder.
std::vector<std::string> places_of(Interp& in, const std::string& path) {
  std::vector<std::string> places{path};
  const std::vector<std::string>& folders = in.options().imports.path;
  if (!path.starts_with('/') && !folders.empty()) places.push_back(path_in(folders.front(), path));
  return places;
}

/// What `look` gives of the first of the places that has it. Errors: a refusal, where nothing has
/// it and one of them may not be read.
template <class Look>
auto first_of(Interp& in, const std::string& path, const Look& look) {
  SourceFiles* const files = in.options().imports.files.get();
  using Found = decltype(look(*files, path));
  if (files == nullptr) return Found();
  std::optional<Problem> refused;
  for (const std::string& place : places_of(in, path)) {
    try {
      if (Found found = look(*files, place)) return found;
    } catch (const InputError& error) {
      if (!refused) refused = error.problems().front();
    }
  }
  if (refused) in.refuse(refused->message, refused->hint);
  return Found();
}

std::shared_ptr<const SourceText> text_at(Interp& in, const std::string& path) {
  return first_of(in, path,
                  [](SourceFiles& files, const std::string& at) { return files.read(at); });
}

const std::vector<std::string>* folder_at(Interp& in, const std::string& path) {
  SourceFiles* const files = in.options().imports.files.get();
  if (files == nullptr) return nullptr;
  for (const std::string& place : places_of(in, path)) {
    const std::vector<std::string>& names = files->list(place);
    if (!names.empty()) return &names;
  }
  return nullptr;
}

Value texts(Interp& in, const std::vector<std::string>& from) {
  std::vector<Value> out;
  out.reserve(from.size());
  for (const std::string& text : from) out.push_back(in.str(text));
  return in.list(std::move(out));
}

}  // namespace

void add_import_functions(Interp& in, Module& module) {
  define(in, module, "modules()",
         [](Interp& interp, Arguments&) -> Value { return interp.importer().table(); });
  define(in, module, "search_path()",
         [](Interp& interp, Arguments&) -> Value { return interp.importer().path(); });
  define(in, module, "arguments()",
         [](Interp& interp, Arguments&) { return texts(interp, interp.options().arguments); });
  define(in, module, "environment()", [](Interp& interp, Arguments&) -> Value {
    const Ref<Dict> out = interp.dict();
    for (const auto& [name, value] : interp.options().environment)
      out->table.set(interp, interp.str(name), interp.str(value));
    if (Alike* alike = alike_of(interp)) {
      const Rank& job = alike->job();
      const auto add = [&](std::string_view name, const std::function<std::int64_t(int)>& number) {
        out->table.set(interp, interp.str(std::string(name)), alike->texts(interp, number));
      };
      add("RANK", [](int rank) { return rank; });
      add("LOCAL_RANK", [&](int rank) { return rank % job.per_node; });
      add("GROUP_RANK", [&](int rank) { return rank / job.per_node; });
    }
    return out;
  });
  define(in, module, "import_module(name)",
         [](Interp& interp, Arguments& args) { return interp.importer().import(args.text(0)); });
  // (its file or None, whether it is a package, its folders); None: it is nowhere.
  define(in, module, "find_module(name)", [](Interp& interp, Arguments& args) {
    const ModuleSpec found = interp.importer().find(args.text(0));
    if (found.name.empty()) return Value::none();
    return interp.tuple({found.origin.empty() ? Value::none() : interp.str(found.origin),
                         Value::boolean(found.is_package), texts(interp, found.folders)});
  });
  define(in, module, "read_text(path)", [](Interp& interp, Arguments& args) {
    const auto found = text_at(interp, args.text(0));
    return found == nullptr ? Value::none() : interp.str(found->text);
  });
  define(in, module, "file_size(path)", [](Interp& interp, Arguments& args) {
    const auto bytes =
        first_of(interp, args.text(0),
                 [](SourceFiles& files, const std::string& at) { return files.size(at); });
    return bytes ? Value::integer(static_cast<std::int64_t>(*bytes)) : Value::none();
  });
  // The first bytes of a file, each a character of its own; None: there is no such file.
  define(in, module, "read_begin(path, count)", [](Interp& interp, Arguments& args) {
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, args.integer(1)));
    const auto found =
        first_of(interp, args.text(0), [&](SourceFiles& files, const std::string& at) {
          auto* const bytes = dynamic_cast<HostView*>(&files);
          return bytes == nullptr ? std::nullopt : bytes->begin(at, count);
        });
    if (!found) return Value::none();
    std::string text;
    text.reserve(found->size());
    for (const char byte : *found) {
      const auto value = static_cast<unsigned char>(byte);
      if (value < 0x80) {
        text += byte;
      } else {
        text += static_cast<char>(0xC0 | value >> 6U);
        text += static_cast<char>(0x80 | (value & 0x3FU));
      }
    }
    return interp.str(text);
  });
  define(in, module, "working_folder()", [](Interp& interp, Arguments&) {
    const auto* const host = dynamic_cast<HostView*>(interp.options().imports.files.get());
    return interp.str(host == nullptr ? "/" : host->working_folder());
  });
  // Why a file may not be read; None: it may, or is nowhere.
  define(in, module, "refusal(path)", [](Interp& interp, Arguments& args) {
    SourceFiles* const files = interp.options().imports.files.get();
    std::optional<std::string> refused;
    if (files == nullptr) return Value::none();
    for (const std::string& place : places_of(interp, args.text(0))) {
      try {
        if (files->size(place)) return Value::none();
      } catch (const InputError& error) {
        if (!refused) refused = error.problems().front().message;
      }
    }
    return refused ? interp.str(*refused) : Value::none();
  });
  define(in, module, "has_folder(path)", [](Interp& interp, Arguments& args) {
    return Value::boolean(folder_at(interp, args.text(0)) != nullptr);
  });
  // Whether the folder has a file or, with a '/' behind it, a folder of that name.
  define(in, module, "has_name(path, name)", [](Interp& interp, Arguments& args) {
    const std::vector<std::string>* found = folder_at(interp, args.text(0));
    return Value::boolean(found != nullptr &&
                          std::binary_search(found->begin(), found->end(), args.text(1)));
  });
  define(in, module, "list_folder(path)", [](Interp& interp, Arguments& args) {
    const std::vector<std::string>* found = folder_at(interp, args.text(0));
    return texts(interp, found == nullptr ? std::vector<std::string>() : *found);
  });
  define(in, module, "run_file(module, text, path)", [](Interp& interp, Arguments& args) {
    interp.run_in(args.object<Module>(0, "module"),
                  std::make_shared<const SourceText>(SourceText{args.text(2), args.text(1)}));
    return Value::none();
  });
}

}  // namespace tidemark::lang
