#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>

#include "sim/lang/builtins/library.h"
#include "sim/lang/imports/host_view.h"

/// What the library's files need of the files that a program may see.
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

std::optional<std::string> text_at(Interp& in, const std::string& path) {
  return first_of(in, path,
                  [](SourceFiles& files, const std::string& at) -> std::optional<std::string> {
                    auto* const host = dynamic_cast<HostView*>(&files);
                    if (host != nullptr) return host->text(at);
                    const auto found = files.read(at);
                    return found == nullptr ? std::nullopt : std::optional(found->text);
                  });
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

/// Texts that were read, by the paths that the program called them by. A run sees each of its files
/// as it was when it was read first. Beyond a count of bytes no more are kept.
class TextsRead {
 public:
  /// None: the file has not been read, or was not kept.
  [[nodiscard]] Value find(const std::string& path) const {
    const auto found = texts_.find(path);
    return found == texts_.end() ? Value::none() : found->second;
  }
  void keep(const std::string& path, const Value& text) {
    constexpr std::size_t kMost = std::size_t{64} << 20U;
    bytes_ += text.as<Str>()->text().size();
    if (bytes_ <= kMost) texts_.emplace(path, text);
  }

 private:
  std::unordered_map<std::string, Value> texts_;  // looked up, never walked
  std::size_t bytes_ = 0;
};

/// Without ".", what ".." takes back, and the '/' that mean nothing. Source: os.path.normpath; "//"
/// at the beginning is "/".
std::string normal_path(const std::string& path) {
  const bool is_absolute = path.starts_with('/');
  if (is_absolute && path.find("//") == std::string::npos && path.find("/.") == std::string::npos &&
      !path.ends_with('/'))
    return path;
  std::vector<std::string_view> parts;
  const std::string_view text = path;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !is_absolute) {
      parts.push_back(part);
    }
  }
  std::string out = is_absolute ? "/" : "";
  for (const std::string_view part : parts) {
    if (!out.empty() && out.back() != '/') out += '/';
    out += part;
  }
  return out.empty() ? "." : out;
}

}  // namespace

void add_file_functions(Interp& in, Module& module) {
  const auto read = std::make_shared<TextsRead>();
  define(in, module, "read_text(path)", [read](Interp& interp, Arguments& args) {
    const std::string& path = args.text(0);
    if (Value known = read->find(path); !known.is_none()) return known;
    std::optional<std::string> found = text_at(interp, path);
    if (!found) return Value::none();
    Value text = interp.str(*std::move(found));
    read->keep(path, text);
    return text;
  });
  // The same of a file that may be read; None too where another may not.
  define(in, module, "plain_text(path)", [read](Interp& interp, Arguments& args) {
    const std::string& path = args.text(0);
    if (Value known = read->find(path); !known.is_none()) return known;
    SourceFiles* const files = interp.options().imports.files.get();
    auto* const host = dynamic_cast<HostView*>(files);
    if (host == nullptr || !path.starts_with('/')) return Value::none();
    std::optional<std::string> found;
    try {
      found = host->text(path);
    } catch (const InputError&) {
      return Value::none();
    }
    if (!found) return Value::none();
    Value text = interp.str(*std::move(found));
    read->keep(path, text);
    return text;
  });
  // What was read of a file before; None: nothing.
  define(in, module, "known_text(path)",
         [read](Interp&, Arguments& args) { return read->find(args.text(0)); });
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
    std::vector<Value> names;
    if (const std::vector<std::string>* found = folder_at(interp, args.text(0))) {
      for (const std::string& name : *found) names.push_back(interp.str(name));
    }
    return interp.list(std::move(names));
  });
  // What a folder has: for each name, whether it is a folder.
  define(in, module, "folder_kinds(path)", [](Interp& interp, Arguments& args) -> Value {
    const Ref<Dict> kinds = interp.dict();
    if (const std::vector<std::string>* found = folder_at(interp, args.text(0))) {
      for (const std::string& name : *found) {
        const bool is_folder = name.ends_with('/');
        kinds->table.set(interp, interp.str(name.substr(0, name.size() - (is_folder ? 1 : 0))),
                         Value::boolean(is_folder));
      }
    }
    return kinds;
  });
  define(in, module, "normal_path(path)",
         [](Interp& interp, Arguments& args) { return interp.str(normal_path(args.text(0))); });
  // The same of a path within the working folder as it is called there; "." is that folder.
  define(in, module, "clean_path(path, working_folder)", [](Interp& interp, Arguments& args) {
    std::string path = normal_path(args.text(0));
    const std::string& folder = args.text(1);
    if (path == folder) return interp.str(".");
    const std::string begin = folder.substr(0, folder.find_last_not_of('/') + 1) + "/";
    if (begin.size() > 1 && path.starts_with(begin)) path.erase(0, begin.size());
    return interp.str(std::move(path));
  });
}

}  // namespace tidemark::lang
