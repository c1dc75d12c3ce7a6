#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/lang/runtime/call_watch.h"
#include "sim/lang/runtime/frame.h"
#include "sim/torch/compile/capture.h"
#include "sim/torch/compile/compiled_call.h"
#include "sim/torch/compile/known_breaks.h"
#include "sim/torch/compile/unit.h"

namespace tidemark::torch {

class CompiledRun;

/// The calls of compiled functions under way, the innermost last. Kept with the session.
struct RunsUnderWay final : lang::CallWatcher {
  bool call(lang::Function& function, lang::CallArgs& args, lang::Value& result) override;

  std::vector<CompiledRun*> runs;
  KnownBreaks breaks;
  std::uint64_t breaks_seen = 0;
  const lang::Function* runs_now = nullptr;  ///< whose call is not to be seen once more
};

RunsUnderWay& runs_of(Session& session);

/// One call of a compiled function: a graph, or several where the program leaves it.
class CompiledRun final : public GraphBreaks {
 public:
  /// `frame`: the function whose frame this compiles; null: it is the first of the program's own.
  CompiledRun(Session& session, Backend backend, ForSizes sizes, const lang::Value& function,
              lang::CallArgs& args, lang::Function* frame = nullptr)
      : session_(session),
        backend_(backend),
        sizes_(sizes),
        function_(function),
        args_(args),
        frame_(frame),
        kept_args_(args.values, args.values + args.total()),
        base_(session.interp.current_frame()),
        breaks_(runs_of(session).breaks) {
    runs_of(session).runs.push_back(this);
    watcher_ = lang::set_call_watcher(&runs_of(session));
  }
  ~CompiledRun() override {
    lang::set_call_watcher(watcher_);
    runs_of(session_).runs.pop_back();
  }
  /// What the call gives. Source: Dynamo's restarts of its analysis.
  lang::Value call();
  /// A Python function is called meanwhile. False: it runs as others do.
  bool sees(lang::Function& function, lang::CallArgs& args, lang::Value& result);
  CompiledRun(const CompiledRun&) = delete;
  CompiledRun& operator=(const CompiledRun&) = delete;

  /// From here on what runs is captured.
  void begin(ops::TensorList arguments);
  /// The function has returned: what was captured is compiled and run.
  void end(const lang::Value& value);
  bool break_graph(std::string_view what) override;
  void leave_graph(std::string_view what, const ops::TensorList& read) override;
  void resume() override;
  [[nodiscard]] bool is_capturing() const override { return is_capturing_; }
  bool suspend() override;

 private:
  lang::Value call_once();
  void abandon();
  void note_break(std::string_view what, const lang::Frame& own);
  lang::Value call_by_frames(lang::Function& function, lang::CallArgs& args);
  lang::Value run(lang::Function& function, lang::CallArgs& args);
  [[nodiscard]] const lang::Frame* users_frame() const;
  [[nodiscard]] const lang::Frame* own_frame() const;
  void compile(const ops::TensorList& all, const ops::TensorList& dead);
  void compile(Unit& unit, std::size_t number);
  void run(Unit& unit);
  std::shared_ptr<const InductorCode> by_inductor(const Unit& unit, std::size_t number);
  Capture& capture() { return *captures_.back(); }
  void lift_indices();
  template <typename F>
  void on_device(F&& work);

  Session& session_;
  Backend backend_;
  ForSizes sizes_;
  const lang::Value function_;
  lang::CallArgs& args_;
  lang::Function* frame_;
  std::vector<lang::Value> kept_args_;  ///< until a graph has run: for a call anew
  const lang::Frame* base_;
  const lang::Code* own_code_ = nullptr;  ///< whose graph has broken
  KnownBreaks& breaks_;
  lang::CallWatcher* watcher_ = nullptr;
  std::vector<std::unique_ptr<Capture>> captures_;
  ops::TensorList arguments_;
  std::uint64_t looks_ = 0;
  std::uint64_t backwards_ = 0;
  bool is_capturing_ = false;
  bool begins_anew_ = false;   ///< the call: a graph has broken where no graph can
  bool is_by_frames_ = false;  ///< frames that are called now are compiled each for itself
  bool is_suspended_ = false;  ///< they are not for now
  bool is_split_ = false;      ///< what was captured last: PyTorch's cache refuses pieces
};

}  // namespace tidemark::torch
