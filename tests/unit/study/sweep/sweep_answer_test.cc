#include "sim/study/sweep/sweep_answer.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

SweepCells::Axis axis(std::string name, const std::vector<std::string>& values, bool is_number) {
  SweepCells::Axis made{std::move(name), {}, is_number};
  for (const std::string& value : values) made.values.push_back({value, value, is_number});
  return made;
}

}  // namespace

TEST_CASE("The answer goes as far as each model does on each device") {
  // What fits, of batches 8, 16 and 32:
  //          t4     h100
  //   small  8 16   8 16 32
  //   large  none   8 32 (16 has an error)
  SweepCells cells;
  cells.axes = {axis("model.args.size", {"small", "large"}, false),
                axis("batch", {"8", "16", "32"}, true), axis("device", {"t4", "h100"}, false)};
  const std::string fits =
      "FFOFFF"
      "OOOFEF";
  for (int model = 0; model < 2; ++model) {
    for (int device = 0; device < 2; ++device) {
      for (int batch = 0; batch < 3; ++batch) {
        SweepCells::Cell cell;
        const char status = fits[static_cast<std::size_t>(model * 6 + device * 3 + batch)];
        cell.result.number = cells.cells.size();
        cell.result.status = status == 'F'   ? CellStatus::kFits
                             : status == 'O' ? CellStatus::kOom
                                             : CellStatus::kError;
        cell.result.peak_reserved = static_cast<Bytes>(batch + 1) << 20U;
        cell.at = {model, batch, device};
        cells.cells.push_back(cell);
      }
    }
  }
  const SweepAnswer answer = answer_of(cells);
  REQUIRE(answer.main_axis == 1U);
  CHECK(answer.device_axis == 2U);
  CHECK(answer.model_axes == std::vector<std::size_t>{0});
  CHECK((answer.fits == 7 && answer.ooms == 4 && answer.errors == 1));
  REQUIRE(answer.reaches.size() == 4);
  struct Row {
    std::string_view model;
    std::string_view device;
    std::uint64_t fits;
    int batch;  // index of the largest that fits; -1: none does
  };
  const Row wanted[] = {{"model.args.size small", "t4", 2, 1},
                        {"model.args.size small", "h100", 3, 2},
                        {"model.args.size large", "t4", 0, -1},
                        {"model.args.size large", "h100", 2, 2}};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    const ReachAnswer& reach = answer.reaches[i];
    INFO(reach.model << " on " << reach.device);
    CHECK(reach.model == wanted[i].model);
    CHECK(reach.device == wanted[i].device);
    CHECK(reach.cells == 3);
    CHECK(reach.fits == wanted[i].fits);
    REQUIRE(reach.best.has_value() == (wanted[i].batch >= 0));
    if (reach.best) CHECK(cells.cells[*reach.best].at[1] == wanted[i].batch);
  }
}

TEST_CASE("Of cells that go as far the one that reserves least is the answer") {
  SweepCells cells;
  cells.axes = {axis("batch", {"8", "16"}, true), axis("allocator.conf", {"", "a"}, false)};
  for (int conf = 0; conf < 2; ++conf) {
    SweepCells::Cell cell;
    cell.result.status = CellStatus::kFits;
    cell.result.peak_reserved = conf == 0 ? 900 : 700;
    cell.at = {1, conf};
    cells.cells.push_back(cell);
  }
  const SweepAnswer answer = answer_of(cells);
  REQUIRE(answer.reaches.size() == 1);
  CHECK(answer.reaches[0].model.empty());
  CHECK(answer.reaches[0].best == 1U);
}

}  // namespace tidemark
