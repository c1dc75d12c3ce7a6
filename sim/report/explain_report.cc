#include "sim/report/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/format/json_writer.h"
#include "sim/report/assumptions_report.h"
#include "sim/report/oom_report.h"
#include "sim/report/peaks_report.h"
#include "sim/report/run_report.h"

namespace tidemark {

namespace {

using Align = Table::Align;

/// What a call site holds on either side.
struct SitePair {
  Bytes a = 0;
  Bytes b = 0;
  [[nodiscard]] std::int64_t growth() const {
    return static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a);
  }
};

/// "blocks.3.attn" is "blocks.*.attn": a model's repeated parts are one call site.
std::string without_numbers(std::string_view maker) {
  if (maker.find(' ') != std::string_view::npos) return std::string(maker);  // a line of code
  std::string out;
  while (true) {
    const std::size_t dot = maker.find('.');
    const std::string_view part = maker.substr(0, dot);
    const bool number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    out += number ? "*" : part;
    if (dot == std::string_view::npos) return out;
    out += '.';
    maker.remove_prefix(dot + 1);
  }
}

/// Call sites by name, repeated parts of a model taken together, those that changed most first.
std::vector<std::pair<std::string, SitePair>> site_pairs(const MemoryPicture& a,
                                                         const MemoryPicture& b) {
  std::map<std::string, SitePair> sites;
  for (const CallSite& site : a.sites) sites[without_numbers(site.maker)].a += site.bytes;
  for (const CallSite& site : b.sites) sites[without_numbers(site.maker)].b += site.bytes;
  std::vector<std::pair<std::string, SitePair>> list(sites.begin(), sites.end());
  std::erase_if(list, [](const auto& each) { return each.second.growth() == 0; });
  std::ranges::stable_sort(list, std::greater<>(),
                           [](const auto& each) { return std::abs(each.second.growth()); });
  return list;
}

std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + human_bytes(static_cast<Bytes>(std::abs(bytes)));
}

std::int64_t difference(Bytes b, Bytes a) {
  return static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a);
}

}  // namespace

std::string_view maker_of(std::string_view maker) {
  return maker.empty() ? std::string_view("(no stack recorded)") : maker;
}

std::string holder_text(const HeldBlock& block) {
  std::string out = fmt::format("{} made by {}", human_bytes(block.bytes), maker_of(block.maker));
  out += block.event ? fmt::format(" in step {} (event {})", block.step, *block.event)
                     : " before the recording";
  return out;
}

namespace {

std::string amounts_text(const MemoryPicture& picture, const TextStyle& style) {
  const Bytes free = picture.reserved_bytes - picture.active_bytes;
  std::string out = fmt::format(
      "{} reserved: {} in {} live blocks ({} asked for), {} free in the cache\n",
      bold(exact_bytes(picture.reserved_bytes), style), exact_bytes(picture.active_bytes),
      grouped(picture.live.size()), human_bytes(picture.requested_bytes), exact_bytes(free));
  const std::string where =
      picture.stream == 0 ? std::string() : fmt::format(" on stream {}", picture.stream);
  out += fmt::format("The largest request that the cache can serve{}: {}\n", where,
                     exact_bytes(picture.largest_cached_bytes));
  if (picture.largest_free_bytes > std::max(picture.largest_cached_bytes, kMiB)) {
    out += fmt::format("  (a free block of {} belongs to another stream or a private pool)\n",
                       human_bytes(picture.largest_free_bytes));
  }
  if (picture.capacity_bytes) {
    out += fmt::format("The largest request that would be served{} with {} of device: {}\n", where,
                       human_bytes(*picture.capacity_bytes),
                       exact_bytes(picture.largest_fitting_bytes));
  }
  return out;
}

std::string pins_text(const MemoryPicture& picture, std::size_t top, const TextStyle& style) {
  if (picture.pinned.empty()) return {};
  Bytes pinned = 0;
  for (const PinnedSegment& segment : picture.pinned) pinned += segment.free_bytes;
  std::string out = fmt::format("{} of the free bytes lie in {} segments that live blocks pin:\n",
                                human_bytes(pinned), picture.pinned.size());
  for (std::size_t i = 0; i < std::min(top, picture.pinned.size()); ++i) {
    const PinnedSegment& segment = picture.pinned[i];
    const std::size_t others = segment.holders.size() - 1;
    out += fmt::format("  {} free of {} at 0x{:x}, held by\n", human_bytes(segment.free_bytes),
                       human_bytes(segment.total_bytes), segment.address);
    out += cut("    " + holder_text(segment.holders.front()), style.width) + "\n";
    if (others > 0)
      out += fmt::format("    and {} more {}\n", others, others == 1 ? "block" : "blocks");
  }
  return out;
}

}  // namespace

std::string explain_text(const Explanation& explanation, std::size_t top, const TextStyle& style) {
  const MemoryPicture& picture = explanation.picture;
  const std::string setting =
      picture.setting.empty() ? "default settings" : "'" + picture.setting + "'";
  const std::string moment =
      fmt::format("After event {} (step {}), {}\n", picture.event, picture.step, setting);
  std::string out = devices_text(explanation);
  if (picture.oom) out += moment + oom_text(explanation, style) + "\n";
  if (explanation.peaks) out += peaks_text(*explanation.peaks, style);
  out += moment;
  out += amounts_text(picture, style);
  out += pins_text(picture, top, style);
  out += "\nWhat it is for\n";
  Table purposes({Align::kLeft, Align::kRight, Align::kRight, Align::kRight}, 2);
  for (std::size_t i = 0; i < kPurposeNames.size(); ++i) {
    if (picture.by_purpose[i] == 0) continue;
    purposes.add({std::string(kPurposeNames[i]), human_bytes(picture.by_purpose[i]),
                  grouped(picture.by_purpose[i]),
                  percent(parts_per_million(picture.by_purpose[i],
                                            std::max<Bytes>(picture.active_bytes, 1)))});
  }
  out += purposes.text(style.width);
  out += wrapped(fmt::format("(rule: {})", purpose_rule()), style.width, 2);
  out += "\nWho holds it\n";
  Table sites({Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft}, 2);
  sites.add({"", "bytes", "blocks", "for", "made by"});
  for (std::size_t i = 0; i < std::min(top, picture.sites.size()); ++i) {
    const CallSite& site = picture.sites[i];
    sites.add({human_bytes(site.bytes), grouped(site.bytes), grouped(site.blocks),
               std::string(kPurposeNames[static_cast<std::size_t>(site.purpose)]),
               std::string(maker_of(site.maker))});
  }
  out += sites.text(style.width);
  return fitted(out, style.width);
}

std::string explain_json(const Explanation& explanation, const RunBasis& basis, std::size_t top) {
  const MemoryPicture& picture = explanation.picture;
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("schema_version", kReportSchemaVersion)
      .member("event", std::uint64_t{picture.event});
  write_assumptions(basis, json);
  json.member("step", std::uint64_t{picture.step}).member("alloc_conf", picture.setting);
  json.member("reserved_bytes", picture.reserved_bytes)
      .member("active_bytes", picture.active_bytes);
  json.member("requested_bytes", picture.requested_bytes)
      .member("largest_free_bytes", picture.largest_free_bytes);
  json.member("stream", std::uint32_t{picture.stream})
      .member("largest_cached_bytes", picture.largest_cached_bytes);
  for (const char* name : {"capacity_bytes", "largest_fitting_bytes"}) {
    json.key(name);
    if (!picture.capacity_bytes) {
      json.null();
    } else {
      json.value(name == std::string_view("capacity_bytes") ? *picture.capacity_bytes
                                                            : picture.largest_fitting_bytes);
    }
  }
  json.member("segments", std::uint64_t{picture.segments.size()})
      .member("live_blocks", std::uint64_t{picture.live.size()});
  write_oom(explanation, json);
  write_peaks(explanation, json);
  json.key("purposes").begin_object();
  for (std::size_t i = 0; i < kPurposeNames.size(); ++i)
    json.member(kPurposeNames[i], picture.by_purpose[i]);
  json.end_object().key("pinned").begin_array();
  for (std::size_t i = 0; i < std::min(top, picture.pinned.size()); ++i) {
    const PinnedSegment& segment = picture.pinned[i];
    json.begin_object(true)
        .member("address", segment.address)
        .member("total_bytes", segment.total_bytes);
    json.member("free_bytes", segment.free_bytes)
        .member("holders", std::uint64_t{segment.holders.size()});
    json.member("smallest_holder_bytes", segment.holders.front().bytes);
    json.member("smallest_holder", segment.holders.front().maker).end_object();
  }
  json.end_array().key("call_sites").begin_array();
  for (std::size_t i = 0; i < std::min(top, picture.sites.size()); ++i) {
    const CallSite& site = picture.sites[i];
    json.begin_object(true).member("made_by", site.maker);
    json.member("purpose", kPurposeNames[static_cast<std::size_t>(site.purpose)]);
    json.member("bytes", site.bytes).member("blocks", std::uint64_t{site.blocks}).end_object();
  }
  json.end_array().end_object().finish();
  return out;
}

std::string churn_text(const ChurnReport& report, std::size_t top, const TextStyle& style) {
  std::string out = report.told_by.empty()
                        ? std::string("\nGrowth by step\n")
                        : fmt::format("\nOver {} {}, told by {}\n", report.steps,
                                      report.steps == 1 ? "step" : "steps", report.told_by);
  if (report.steps < 3) {
    out += "  growth needs three steps at least that the recording tells apart\n";
  } else if (report.growing.empty()) {
    out += "  no call site holds more after the last step than after the first\n";
  }
  for (std::size_t i = 0; i < std::min(top, report.growing.size()); ++i) {
    const ChurnReport::Site& site = report.growing[i];
    out += cut(fmt::format("  {} since the first step, {} a step{}: {}", signed_bytes(site.growth),
                           signed_bytes(site.growth / static_cast<std::int64_t>(report.steps - 1)),
                           site.grows_every_step ? ", more in every one (a leak?)" : "",
                           maker_of(site.maker)),
               style.width) +
           "\n";
  }
  out += "\nLargest churners\n";
  Table churners({Align::kRight, Align::kRight, Align::kLeft}, 2);
  churners.add({"asked for", "requests", "by"});
  for (std::size_t i = 0; i < std::min(top, report.churners.size()); ++i) {
    const ChurnReport::Site& site = report.churners[i];
    churners.add(
        {human_bytes(site.bytes), grouped(site.allocs), std::string(maker_of(site.maker))});
  }
  out += churners.text(style.width);
  out += "\nHow many events requests lived\n";
  std::uint64_t most = 1;
  for (std::size_t i = 0; i < report.lifetimes.size(); ++i, most *= 10) {
    const bool last = i + 1 == report.lifetimes.size();
    out += fmt::format("  {:<10}{:>14}\n", last ? std::string("longer") : "<= " + grouped(most),
                       grouped(report.lifetimes[i]));
  }
  out += fmt::format("  {:<10}{:>14}\n\n", "to the end", grouped(report.never_freed));
  out += fmt::format("{} different block sizes; roundup_power2_divisions:8 would make {} of them\n",
                     grouped(report.distinct_sizes), grouped(report.distinct_sizes_rounded));
  if (report.merged.empty()) return out;
  Table merged({Align::kRight, Align::kRight, Align::kRight, Align::kRight}, 2);
  merged.add({"requests", "sizes", "from, to", "rounded"});
  for (std::size_t i = 0; i < std::min(top, report.merged.size()); ++i) {
    const ChurnReport::Merged& each = report.merged[i];
    merged.add({grouped(each.requests), grouped(each.sizes),
                human_bytes(each.smallest) + ", " + human_bytes(each.largest),
                human_bytes(each.rounded)});
  }
  return out + merged.text(style.width);
}

std::string churn_json(const ChurnReport& report, std::size_t top) {
  std::string out;
  JsonWriter json(out);
  json.begin_object()
      .member("schema_version", kReportSchemaVersion)
      .member("steps", std::uint64_t{report.steps})
      .member("steps_told_by", report.told_by);
  const auto sites = [&json, top](const char* name, const std::vector<ChurnReport::Site>& list) {
    json.key(name).begin_array();
    for (std::size_t i = 0; i < std::min(top, list.size()); ++i) {
      json.begin_object(true).member("made_by", list[i].maker).member("requests", list[i].allocs);
      json.member("bytes", list[i].bytes).member("growth_bytes", list[i].growth);
      json.member("grows_every_step", list[i].grows_every_step).end_object();
    }
    json.end_array();
  };
  sites("growing", report.growing);
  sites("churners", report.churners);
  json.key("lifetimes").begin_array(true);
  for (const std::uint64_t count : report.lifetimes) json.value(count);
  json.end_array().member("never_freed", report.never_freed);
  json.member("distinct_sizes", std::uint64_t{report.distinct_sizes});
  json.member("distinct_sizes_rounded", std::uint64_t{report.distinct_sizes_rounded});
  json.key("merged_sizes").begin_array();
  for (std::size_t i = 0; i < std::min(top, report.merged.size()); ++i) {
    const ChurnReport::Merged& each = report.merged[i];
    json.begin_object(true).member("rounded_bytes", each.rounded).member("requests", each.requests);
    json.member("sizes", std::uint64_t{each.sizes}).member("smallest_bytes", each.smallest);
    json.member("largest_bytes", each.largest).end_object();
  }
  json.end_array().end_object().finish();
  return out;
}

namespace {

/// The answer in two lines: what moved, and because of whom.
std::string diff_headline(const MemoryPicture& a, const MemoryPicture& b,
                          const std::vector<std::pair<std::string, SitePair>>& sites,
                          const TextStyle& style) {
  const Bytes a_free = a.reserved_bytes - a.active_bytes;
  const Bytes b_free = b.reserved_bytes - b.active_bytes;
  const auto segments =
      static_cast<std::int64_t>(b.segments.size()) - static_cast<std::int64_t>(a.segments.size());
  std::string out =
      fmt::format("{} reserved in B: {} in use, {} free; {:+} {}\n",
                  bold(signed_bytes(difference(b.reserved_bytes, a.reserved_bytes)), style),
                  signed_bytes(difference(b.active_bytes, a.active_bytes)),
                  signed_bytes(difference(b_free, a_free)), segments,
                  std::abs(segments) == 1 ? "segment" : "segments");
  if (sites.empty()) return out;
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, sites.size()); ++i) {
    names += fmt::format("{}{} {}", i == 0 ? "" : "; ", signed_bytes(sites[i].second.growth()),
                         maker_of(sites[i].first));
  }
  return out + wrapped("above all " + names, style.width, 2);
}

}  // namespace

std::string picture_diff_text(const MemoryPicture& a, const MemoryPicture& b, std::size_t top,
                              const TextStyle& style) {
  const auto sites = site_pairs(a, b);
  std::string out = diff_headline(a, b, sites, style) + "\n";
  Table amounts({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  amounts.add({"", "A", "B", "change"});
  const auto amount = [&amounts](std::string name, Bytes from, Bytes to) {
    amounts.add(
        {std::move(name), human_bytes(from), human_bytes(to), signed_bytes(difference(to, from))});
  };
  amount("reserved", a.reserved_bytes, b.reserved_bytes);
  amount("in use", a.active_bytes, b.active_bytes);
  amount("free", a.reserved_bytes - a.active_bytes, b.reserved_bytes - b.active_bytes);
  const auto pinned = [](const MemoryPicture& picture) {
    Bytes sum = 0;
    for (const PinnedSegment& segment : picture.pinned) sum += segment.free_bytes;
    return sum;
  };
  amount("  of it pinned by live blocks", pinned(a), pinned(b));
  out += amounts.text(style.width);
  for (const auto& [name, picture] : {std::pair("A", &a), std::pair("B", &b)}) {
    for (std::size_t i = 0; i < std::min(top, picture->pinned.size()); ++i) {
      out += cut(fmt::format("    {}: {} pinned by {}", name,
                             human_bytes(picture->pinned[i].free_bytes),
                             holder_text(picture->pinned[i].holders.front())),
                 style.width) +
             "\n";
    }
  }
  out += "\nCall sites that hold more or less\n";
  if (sites.empty()) out += "  none\n";
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft}, 2);
  if (!sites.empty()) table.add({"change", "A", "B", "made by"});
  for (std::size_t i = 0; i < std::min(top, sites.size()); ++i) {
    const auto& [maker, pair] = sites[i];
    table.add({signed_bytes(pair.growth()), human_bytes(pair.a), human_bytes(pair.b),
               std::string(maker_of(maker))});
  }
  out += table.text(style.width);
  return out;
}

std::string picture_diff_json(const MemoryPicture& a, const MemoryPicture& b, std::size_t top) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("schema_version", kReportSchemaVersion);
  const auto side = [&json](const char* name, const MemoryPicture& picture) {
    json.key(name).begin_object(true).member("event", std::uint64_t{picture.event});
    json.member("reserved_bytes", picture.reserved_bytes)
        .member("active_bytes", picture.active_bytes);
    json.member("segments", std::uint64_t{picture.segments.size()});
    json.member("pinned_segments", std::uint64_t{picture.pinned.size()}).end_object();
  };
  side("a", a);
  side("b", b);
  json.key("call_sites").begin_array();
  const auto sites = site_pairs(a, b);
  for (std::size_t i = 0; i < std::min(top, sites.size()); ++i) {
    json.begin_object(true).member("made_by", sites[i].first).member("a_bytes", sites[i].second.a);
    json.member("b_bytes", sites[i].second.b).end_object();
  }
  json.end_array().end_object().finish();
  return out;
}

}  // namespace tidemark
