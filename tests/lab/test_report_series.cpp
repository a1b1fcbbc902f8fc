// SPDX-License-Identifier: MIT
// How runs become series, sentences and trajectories, and numbers a map.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab/report/level_sets.hpp"
#include "lab/report/page.hpp"
#include "lab/report/sentences.hpp"
#include "lab/report/series.hpp"
#include "lab/report/svg.hpp"
#include "support/not_finite.hpp"

namespace symport::lab::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A run as the reader makes it, with a trace of these losses.
RunRecord made_run(std::uint64_t seed, const std::vector<double>& losses,
                   const std::string& teleport = "never", const std::string& lr = "0.1") {
  RunRecord run;
  run.directory = "run-" + std::to_string(seed);
  run.spec = FunctionRunSpec{.function = "booth",
                             .learning_rate = RateSpec::parse(lr),
                             .steps = 9,
                             .teleport = Schedule::parse(teleport),
                             .seed = seed};
  run.version = "0.1.0";
  run.trace.index = "step";
  for (std::size_t i = 0; i < losses.size(); ++i) {
    run.trace.columns["step"].push_back(static_cast<double>(i));
    run.trace.columns["seconds"].push_back(0.5 * static_cast<double>(i));
    run.trace.columns["loss"].push_back(losses[i]);
    run.trace.columns["grad_sq"].push_back(losses[i]);
    run.trace.columns["teleported"].push_back(teleport != "never" && i == 1 ? 1.0 : 0.0);
  }
  if (teleport != "never") {
    Certificate certificate;
    certificate.step = 1;
    certificate.accepted = true;
    certificate.grad_sq_before = 1.0;
    certificate.grad_sq_after = 4.0;
    certificate.drift = 1e-15;
    run.teleports.push_back(certificate);
    run.jumps.push_back({.step = 1, .accepted = true});
  }
  return run;
}

const Measure loss_measure{.column = "loss", .name = "loss"};

TEST(Series, SeedsFormOneSeriesAndConfigurationsSeveral) {
  std::vector<RunRecord> runs{made_run(0, {4, 1}), made_run(1, {2, 3}), made_run(0, {4, 0.5}, "1"),
                              made_run(0, {4, 9}, "never", "0.2")};
  std::get<FunctionRunSpec>(runs[1].spec).how.search =
      "fixed";  // nothing, where no teleport is made
  const std::vector<ProblemRuns> problems = grouped(runs);
  ASSERT_EQ(problems.size(), 1u);
  const auto& series = problems[0].series;
  ASSERT_EQ(series.size(), 3u);
  EXPECT_EQ(series[0].runs.size(), 2u);
  EXPECT_EQ(series[0].name, "lr 0.1, no teleports");
  EXPECT_EQ(series[1].name, "lr 0.1, teleports at 1");
  EXPECT_EQ(series[2].name, "lr 0.2, no teleports");
  EXPECT_EQ(series[0].colour, 0);
  EXPECT_EQ(series[0].base, series[1].base);
  EXPECT_NE(series[0].base, series[2].base);

  std::get<FunctionRunSpec>(runs[2].spec).function = "ellipse:5";
  EXPECT_EQ(grouped(runs).size(), 2u);
}

TEST(Series, MeanAndDeviationAreThoseOfTheRuns) {
  const std::vector<RunRecord> runs{made_run(0, {4, 1, 0}), made_run(1, {2, 3}),
                                    made_run(2, {6, 8})};
  const std::vector<ProblemRuns> problems = grouped(runs);
  const CurveFigure figure = curves(problems[0], "loss", {"loss", "loss", true});
  ASSERT_EQ(figure.series.size(), 1u);
  const Series& series = figure.series[0];
  EXPECT_THAT(series.x[0], ElementsAre(0.0, 1.0));
  EXPECT_THAT(series.x[1], ElementsAre(0.0, 0.5));
  ASSERT_EQ(series.y.size(), 2u);
  EXPECT_DOUBLE_EQ(series.y[0], 4.0);
  EXPECT_DOUBLE_EQ(series.y[1], 4.0);
  EXPECT_DOUBLE_EQ(series.upper[0], 6.0);
  EXPECT_DOUBLE_EQ(series.lower[0], 2.0);
  EXPECT_DOUBLE_EQ(series.upper[1], 4.0 + std::sqrt(13.0));  // ((1-4)^2 + (3-4)^2 + (8-4)^2) / 2
  EXPECT_DOUBLE_EQ(series.lower[1], 1.0) << "not below the smallest run";
}

TEST(Series, DivergedRunsAreNotDrawnUnlessAllDid) {
  std::vector<RunRecord> runs{made_run(0, {4, 1}), made_run(1, {4, 5000}), made_run(2, {4, 3})};
  ProblemRuns problem = grouped(runs)[0];
  EXPECT_EQ(problem.series[0].runs.size(), 3u);
  EXPECT_DOUBLE_EQ(curves(problem, "loss", {"loss", "loss", true}).series[0].y[1], 2.0);
  for (RunRecord& run : runs) run.status = RunStatus::diverged;
  problem = grouped(runs)[0];
  EXPECT_EQ(problem.series[0].drawn.size(), 3u);
  EXPECT_FALSE(diverged(made_run(0, {4, 3999})));
  EXPECT_TRUE(diverged(made_run(0, {4, nan})));
}

TEST(Series, OneSeedStandsForAllInEverySeries) {
  const std::vector<RunRecord> runs{made_run(0, {4, 1}), made_run(1, {4, 2}),
                                    made_run(0, {4, infinity}, "1"), made_run(1, {4, 3}, "1")};
  const ProblemRuns problem = grouped(runs)[0];
  for (const RunSeries& series : problem.series) EXPECT_EQ(series.example->seed(), 1u);
  const CurveFigure figure = gradient_against_loss(problem);
  EXPECT_THAT(figure.series[0].x[0], ElementsAre(4.0, 2.0));
  EXPECT_THAT(figure.series[1].teleports, ElementsAre(1u));
}

TEST(Sentences, CompareGradientsAtTheSameLoss) {
  std::vector<RunRecord> runs{made_run(0, {8, 4, 2, 1}), made_run(0, {8, 4, 1}, "1")};
  // After the teleport at step 1 the squared gradient is 9 times the loss, without it is the loss.
  runs[1].trace.columns["grad_sq"] = {8, 36, 9};
  Finding finding = same_loss_finding(grouped(runs)[0]);
  EXPECT_EQ(finding.verdict, Verdict::as_expected);
  EXPECT_THAT(finding.text,
              HasSubstr("9 times as large in the median of the losses between 1 and 4"));
  runs[1].trace.columns["grad_sq"] = {8, 2, 0.5};
  EXPECT_EQ(same_loss_finding(grouped(runs)[0]).verdict, Verdict::not_confirmed);
  runs[0].trace.columns["loss"] = {100, 90, 80, 70};
  EXPECT_EQ(same_loss_finding(grouped(runs)[0]).verdict, Verdict::inconclusive);
}

TEST(HeatMap, HasACellForEveryNumberAndMarksWhatIsLeftOut) {
  HeatMap map;
  map.id = "map";
  map.title = "</svg><script>";
  map.x = {1, 2};
  map.y = {1e-9, 1e-5};
  map.values = {2.0, 0.5, nan, 1.0};
  const std::string svg = heat_map_svg(map);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  const auto count = [&](const std::string& what) {
    std::size_t number = 0;
    for (auto at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++number;
    return number;
  };
  EXPECT_EQ(count("class=\"cell"), 4u);
  EXPECT_EQ(count("class=\"cell omitted"), 1u);
  // Twice and half are equally far from 1, in different colours.
  EXPECT_EQ(count("class=\"cell s1\" fill=\"#0b5fa5\" fill-opacity=\"0.6\""), 1u);
  EXPECT_EQ(count("class=\"cell s6\" fill=\"#8a5a3c\" fill-opacity=\"0.6\""), 1u);
  EXPECT_THAT(svg, HasSubstr(">10⁻⁹<"));
}

TEST(Sentences, SayThatTeleportationHelped) {
  const std::vector<RunRecord> runs{made_run(0, {4, 0.1113}), made_run(0, {4, 1.2e-32}, "1")};
  const Finding finding = end_finding(grouped(runs)[0], loss_measure);
  EXPECT_EQ(finding.verdict, Verdict::as_expected);
  EXPECT_THAT(finding.text, HasSubstr("1.2e-32 with and 0.1113 without"));
  EXPECT_THAT(finding.text, Not(HasSubstr("did not help")));
}

TEST(Sentences, SayThatTeleportationDidNotHelp) {
  for (const double worse : {3.3, 0.11, infinity, nan}) {
    const std::vector<RunRecord> runs{made_run(0, {4, 0.11}), made_run(0, {4, worse}, "1")};
    const Finding finding = end_finding(grouped(runs)[0], loss_measure);
    EXPECT_EQ(finding.verdict, Verdict::not_confirmed) << worse;
    EXPECT_THAT(finding.text, HasSubstr("Teleportation did not help here."));
  }
}

TEST(Sentences, OneLuckySeedIsNotEnough) {
  const std::vector<RunRecord> runs{made_run(0, {4, 100}),    made_run(1, {4, 1}),
                                    made_run(2, {4, 1}),      made_run(0, {4, 2}, "1"),
                                    made_run(1, {4, 2}, "1"), made_run(2, {4, 2}, "1")};
  const Finding finding = end_finding(grouped(runs)[0], loss_measure);
  EXPECT_THAT(finding.text, HasSubstr("lower with in 1 of 3 seeds"));
  EXPECT_EQ(finding.verdict, Verdict::not_confirmed);
}

TEST(Sentences, AnAccuracyShouldRise) {
  const Measure accuracy{.column = "loss", .name = "accuracy", .larger_is_better = true};
  const std::vector<RunRecord> runs{made_run(0, {0.1, 0.8}), made_run(0, {0.1, 0.9}, "1")};
  EXPECT_EQ(end_finding(grouped(runs)[0], accuracy).verdict, Verdict::as_expected);
}

TEST(Sentences, WithoutABaselineNothingIsClaimed) {
  const std::vector<RunRecord> runs{made_run(0, {4, 1e-9}, "1"),
                                    made_run(0, {4, 1}, "never", "0.7")};
  const Finding finding = end_finding(grouped(runs)[0], loss_measure);
  EXPECT_EQ(finding.verdict, Verdict::inconclusive);
  EXPECT_THAT(finding.text, HasSubstr("it is unknown whether they helped"));
}

TEST(Sentences, GradientsAndLevelsComeFromTheCertificates) {
  std::vector<RunRecord> runs{made_run(0, {4, 1}, "1")};
  EXPECT_EQ(gradient_finding(grouped(runs)[0]).verdict, Verdict::as_expected);
  EXPECT_EQ(level_finding(grouped(runs)[0], 1e-8, 1.0).verdict, Verdict::as_expected);
  runs[0].teleports[0].grad_sq_after = 0.5;
  runs[0].teleports[0].drift = 0.3;
  EXPECT_EQ(gradient_finding(grouped(runs)[0]).verdict, Verdict::not_confirmed);
  EXPECT_EQ(level_finding(grouped(runs)[0], 1e-8, 1.0).verdict, Verdict::not_confirmed);
  runs[0].teleports[0].drift = nan;
  EXPECT_EQ(level_finding(grouped(runs)[0], 1e-8, 1.0).verdict, Verdict::not_confirmed);
}

TEST(Trajectory, HasThePointThatATeleportLeft) {
  RunRecord run = made_run(0, {90.0, 7.0}, "1");
  run.trace.columns["x1"] = {5.0, -1.0};
  run.trace.columns["x2"] = {-5.0, 2.0};
  // One that was refused has no frame.
  run.jumps = {{.step = 0, .before = Vector{{5.0, -5.0}}, .after = Vector{{5.0, -5.0}}},
               {.step = 1,
                .accepted = true,
                .loss_before = 7.5,
                .loss_after = 7.0,
                .before = Vector{{4.0, -3.0}},
                .after = Vector{{-1.0, 2.0}}}};
  const Trajectory way = trajectory(run);
  ASSERT_THAT(way.kind, ElementsAre(Frame::step, Frame::before_teleport, Frame::after_teleport));
  EXPECT_THAT(way.step, ElementsAre(0.0, 1.0, 1.0));
  EXPECT_THAT(way.x, ElementsAre(5.0, 4.0, -1.0));
  EXPECT_THAT(way.y, ElementsAre(-5.0, -3.0, 2.0));
  EXPECT_THAT(way.loss, ElementsAre(90.0, 7.5, 7.0));
}

// A teleport in the second epoch comes after the row of the first: what it causes stands after it.
TEST(Series, AMarkStandsWhereTheTeleportHappened) {
  RunRecord run = made_run(0, {8, 6, 0.5, 0.4}, "1");
  run.spec = NetworkRunSpec{.data = "regression", .teleport = Schedule::parse("1")};
  run.trace.index = "epoch";
  run.trace.columns["epoch"] = run.trace.columns["step"];
  run.trace.columns["train_loss"] = run.trace.columns["loss"];
  run.trace.columns["teleported"] = {0, 0, 1, 0};
  run.jumps = {{.step = 30, .epoch = 1, .accepted = true},
               {.step = 31, .epoch = 1, .batch = 1, .accepted = true},
               {.step = 60, .epoch = 2, .accepted = false}};
  const std::vector<RunRecord> runs{run};
  const CurveFigure figure =
      curves(grouped(runs)[0], "train_loss", {"train_loss", "training loss", true});
  EXPECT_THAT(figure.series[0].teleports, ElementsAre(1u));
  EXPECT_EQ(figure.series[0].x[0][0], 0.0);
}

TEST(Sentences, CompareAtEqualCostFirst) {
  std::vector<RunRecord> runs{made_run(0, {4, 2, 1}), made_run(0, {4, 2, 1e-6}, "1")};
  runs[0].trace.columns["evaluations"] = {1, 2, 3};
  runs[1].trace.columns["evaluations"] = {1, 200, 201};
  const Finding finding = end_finding(grouped(runs)[0], loss_measure);
  EXPECT_THAT(finding.text, HasSubstr("at equal cost, 3 gradients, 4 with and 1 without, lower "
                                      "with in 0 of 1 seed; in the end 1e-06 with (201 gradients) "
                                      "and 1 without (3 gradients), lower with in 1 of 1 seed"));
  EXPECT_THAT(finding.text, HasSubstr("At equal cost teleportation did not help."));
  EXPECT_EQ(finding.verdict, Verdict::partly);
  EXPECT_THAT(finding.text, HasSubstr("more than half of the seeds"));
}

TEST(Series, ARunningLossThatBeginsUnknownDidNotDiverge) {
  const std::vector<RunRecord> runs{made_run(0, {nan, 4, 1}), made_run(1, {nan, 4, nan})};
  EXPECT_FALSE(diverged(runs[0]));
  EXPECT_TRUE(diverged(runs[1]));
}

// ---- the page

Report hostile_report() {
  const std::string name = "</script><img src=x onerror=\"alert(1)\">";
  CurveFigure figure;
  figure.id = "loss";
  figure.title = name;
  figure.finding = {name, Verdict::as_expected};
  figure.note = name;
  figure.x_axes = {{"step", "step"}};
  figure.y_axis = {"loss", "loss", true};
  figure.series.push_back({.name = name, .colour = 1, .x = {{0, 1}}, .y = {2, infinity}});
  Section section{
      name, name, {figure}, {{"runs", name, name, {{name}}, {{{name}}}}}, {{name, name}}};
  return {name, name, {section}, name};
}

TEST(Page, HostileNamesAreNowhereMarkup) {
  const std::string html = page(hostile_report());
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(html.find("</script>"), html.find("</script>\n<script>"));
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;img"));
  EXPECT_THAT(page_data(hostile_report()), Not(HasSubstr("<")));
}

TEST(Page, HasAPolicyThatAllowsNothingElseAndIsTheSameEveryTime) {
  const std::string html = page(hostile_report());
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe")));
  EXPECT_THAT(html, Not(HasSubstr(" style=\"")));
  EXPECT_EQ(html, page(hostile_report()));
}

TEST(PageData, WritesAColumnOnceAndRegularOnesShort) {
  Report report = hostile_report();
  auto& figure = std::get<CurveFigure>(report.sections[0].figures[0]);
  figure.series[0].x = {{0, 1, 2, 3}};
  figure.series[0].y = {5, 1, 2, 9};
  figure.series.push_back(figure.series[0]);
  EXPECT_THAT(
      page_data(report),
      HasSubstr(
          R"({"columns":["AAAAAAAAFEAAAAAAAADwPwAAAAAAAABAAAAAAAAAIkA=",{"from":0.0,"by":1.0,"count":4}],)"));
}

}  // namespace
}  // namespace symport::lab::report
