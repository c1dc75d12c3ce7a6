#include "sim/run/event_policy.h"

#include <charconv>

#include <fmt/format.h>

namespace tidemark {

std::optional<EventPolicy> parse_event_policy(std::string_view text) {
  if (text == "sync") return EventPolicy{EventPolicy::Kind::kSync, 0};
  if (text == "ready") return EventPolicy{EventPolicy::Kind::kReady, 0};
  if (text == "simulated") return EventPolicy{EventPolicy::Kind::kSimulated, 0};
  constexpr std::string_view kLagPrefix = "lag:";
  if (!text.starts_with(kLagPrefix)) return std::nullopt;
  text.remove_prefix(kLagPrefix.size());
  EventPolicy policy{EventPolicy::Kind::kLag, 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), policy.lag);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return policy;
}

std::string event_policy_name(const EventPolicy& policy) {
  switch (policy.kind) {
    case EventPolicy::Kind::kSync:
      return "sync";
    case EventPolicy::Kind::kReady:
      return "ready";
    case EventPolicy::Kind::kLag:
      return fmt::format("lag:{}", policy.lag);
    case EventPolicy::Kind::kSimulated:
      break;
  }
  return "simulated";
}

}  // namespace tidemark
