#pragma once

#include <string>

#include "sim/format/json_writer.h"
#include "sim/report/html_report.h"

namespace tidemark {

/// More events than a page holds: the rest lies before and behind the moment shown.
inline constexpr std::size_t kMostPageEvents = 1'000'000;

/// Writes what page.js rebuilds a run's memory from: as members of the object that `json` is in,
/// the state before the first event, the texts of makers, phases and purposes, and the moment's
/// place; and returns the events, columns one after the other (Run in page.js reads them in this
/// order): float64 of every address and of every size, then by event uint32 the address, the bytes,
/// the rounded request, maker and phase, uint16 stream and pool, uint8 action and purpose. Cost:
/// linear in the events; 26 bytes an event, a tenth of it gzipped.
std::string write_page_events(const HtmlReport& report, JsonWriter& json);

}  // namespace tidemark
