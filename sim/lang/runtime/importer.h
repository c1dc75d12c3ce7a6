#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/lang/imports/library_index.h"
#include "sim/lang/imports/source_files.h"
#include "sim/lang/runtime/function.h"

/// Python's import system: one table of modules, and the search for those that are not in it.
///
/// A name is looked for among the modules of C++, in the library (Python's own, torch, numpy), in
/// the folders of sys.path (of a submodule: of its package's __path__), and last among the
/// library's stand-ins for packages that are not there. So an installed package wins over a
/// stand-in, and nothing over Python's library and torch.
namespace tidemark::lang {

class Interp;

/// What is known of a module before it is imported; empty name: it is nowhere.
struct ModuleSpec {
  std::string name;
  std::string origin;  // its file; empty: it has none
  bool is_package = false;
  std::vector<std::string> folders;  // __path__
};

class Importer {
 public:
  struct Sources {
    LibraryRoots library;                ///< lives as long as the importer
    std::shared_ptr<SourceFiles> files;  ///< null: only what is part of the program is there
    std::vector<std::string> path;       ///< sys.path, as a program finds it
    std::vector<std::string> packages;   ///< those of `path` that have installed packages
    /// Whether a module that is nowhere is one all the same until it is used, where the program
    /// does not ask whether it is there.
    bool makes_placeholders = false;
  };
  Importer(Interp& interp, Sources sources);
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;
  /// Drops every module, in the order in which they were made.
  void clear();

  /// sys.modules: what an import finds first.
  [[nodiscard]] const Ref<Dict>& table() const { return table_; }
  /// sys.path: its texts are folders.
  [[nodiscard]] const Ref<List>& path() const { return path_; }
  /// Those that a text or C++ made, as they were made.
  [[nodiscard]] const std::vector<Ref<Module>>& modules() const { return order_; }
  /// A module of C++. Where the library has a file of that name, the file's names come first.
  void add_host_module(std::string name, std::function<void(Interp& interp, Module& module)> fill);

  /// The module, made or run now. Errors: ModuleNotFoundError, and what its text raises.
  Value import(std::string_view name);
  /// What `from module import name` binds in the module `by` (null: none). What an installed
  /// package takes of torch and is not modelled is refused when it is used.
  /// Errors: ImportError, with a suggestion.
  Value import_member(const Value& module, Name name, const Module* by = nullptr);
  /// The whole name of what a module means by `from ..name import` (two dots: level 2).
  /// Errors: ImportError beyond the top.
  std::string absolute_name(Module& from, std::string_view name, std::uint32_t level);
  /// The parents are imported. Errors: those of importing them.
  ModuleSpec find(std::string_view name);
  /// Whether the program has a module of that name itself, in C++ or in its library.
  [[nodiscard]] bool is_own(const std::string& name) const;
  /// What Python's import puts into a module and is made here when it is asked for: __spec__,
  /// __package__, __loader__, __path__. Empty: none of these.
  Value module_fact(Module& module, Name name);
  /// Runs a text as a new module.
  Ref<Module> run_text(std::shared_ptr<const SourceText> source, const std::string& name);

  /// Counts the running `try` statements that take an ImportError: a program in one asks whether a
  /// module is there.
  class Asking {
   public:
    explicit Asking(Importer& importer, bool asks = true)
        : importer_(importer), count_(asks ? 1 : 0) {
      importer_.asking_ += count_;
    }
    ~Asking() { importer_.asking_ -= count_; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    Importer& importer_;
    const std::uint32_t count_;
  };

 private:
  Value find_loaded(const std::string& name);
  void enter(const std::string& name, const Ref<Module>& module);
  /// Where the folders have it; `parent` Empty: it is at the top.
  /// Why one of the folders of sys.path may not be looked into; empty: all may.
  std::string closed_folder();
  [[nodiscard]] bool is_installed(const std::string& file) const;
  ModulePlace find_in_folders(const std::string& name, const Value& parent);
  /// Empty: it is nowhere.
  Value load(const std::string& name, const Value& parent);
  /// By the finders that the program put into sys.meta_path: those ahead of Python's own, or those
  /// behind it. Empty: none has it.
  Value load_by_finders(const std::string& name, const Value& parent, bool ahead);
  Value load_own(const std::string& name, const LibraryModule* file);
  Value load_place(const std::string& name, ModulePlace place);
  void run_in(const std::string& name, const Ref<Module>& module,
              std::shared_ptr<const SourceText> source);
  Ref<Module> placeholder(const std::string& name, std::string why);
  [[noreturn]] void not_found(const std::string& name, const Value& parent);
  std::vector<std::string> texts_of(const Value& list);

  Interp& in_;
  Sources sources_;
  Ref<Dict> table_;
  Ref<List> path_;
  std::unordered_map<std::string, std::function<void(Interp&, Module&)>> host_modules_;
  std::unordered_map<std::string, Ref<Module>> placeholders_;  // looked up, never walked
  std::vector<const Module*> loading_;  // whose texts run, the outermost first
  std::vector<Ref<Module>> order_;
  std::uint32_t asking_ = 0;
  std::uint32_t asking_outside_ = 0;  // those of them that began before the text that runs now
};

/// What stands for `name`, of a module that is not there or not modelled: it may be named, handed
/// on and inherited from; a call of it, or any other use, is refused as "NAME WHY".
Value make_placeholder(Interp& interp, const std::string& name, const std::string& why);

}  // namespace tidemark::lang
