#include "sim/study/explain/program_end.h"

#include <algorithm>

#include "sim/alloc/settings_parser.h"
#include "sim/study/replay/recorded_requests.h"

namespace tidemark {

ProgramEnd program_end(const ScenarioSource& source) {
  const ProgramPlayer player(read_scenario(source));
  ProgramEnd end;
  end.need = need_of(player);
  const AllocatorSettings& given = player.scenario().settings;
  if (given.backend != Backend::kNative) return end;
  for (const std::string& conf : confs_beside(given, {}, true)) {
    end.settings.push_back(
        {player.play(parse_settings("grid", conf, given.version).settings), conf});
  }
  return end;
}

const ProgramEnd::Played* ProgramEnd::helps() const {
  const auto found = std::ranges::find(settings, 0, &Played::ooms);
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace tidemark
