// SPDX-License-Identifier: MIT
#include "lab/benchmark/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "lab/compare/rate_score.hpp"
#include "lab/data/sha256.hpp"
#include "lab/runs/run_config.hpp"
#include "lab/runs/run_directory.hpp"
#include "lab/text/json_forms.hpp"
#include "symport/core/version.hpp"

namespace symport::lab::benchmark {

namespace {

constexpr int format_of_cells = 1;
constexpr std::size_t shown_of_hash = 12;

/// Jobs that are worked off by several threads, each of which may add others.
class Workers {
 public:
  using Job = std::function<void()>;

  void add(Job job) { jobs_.push_back(std::move(job)); }
  /// To be done next. Only from a job.
  void add_next(Job job) {
    const std::scoped_lock lock(guard_);
    jobs_.push_front(std::move(job));
    news_.notify_one();
  }

  /// Until there is no job, or `keep_going` says no between two of them. The first exception ends
  /// the work and is thrown again.
  void run(std::size_t at_once, const std::function<bool()>& keep_going) {
    const auto work = [&] {
      while (const std::optional<Job> job = next(keep_going)) {
        try {
          (*job)();
        } catch (...) {
          const std::scoped_lock lock(guard_);
          if (!error_) error_ = std::current_exception();
        }
        const std::scoped_lock lock(guard_);
        --busy_;
        news_.notify_all();
      }
    };
    {
      std::vector<std::jthread> others;
      try {
        for (std::size_t i = 1; i < at_once; ++i) others.emplace_back(work);
      } catch (const std::system_error&) {  // those that could be started do it
      }
      work();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::optional<Job> next(const std::function<bool()>& keep_going) {
    std::unique_lock lock(guard_);
    news_.wait(lock, [&] { return !jobs_.empty() || busy_ == 0 || error_; });
    if (jobs_.empty() || error_ || !keep_going()) {
      news_.notify_all();
      return std::nullopt;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++busy_;
    return job;
  }

  std::deque<Job> jobs_;
  std::size_t busy_ = 0;
  std::exception_ptr error_;
  std::mutex guard_;
  std::condition_variable news_;
};

/// A benchmark that is being run.
class Runner {
 public:
  Runner(const BenchmarkOptions& options, DataCache& data, const CellFiles& files,
         const BenchmarkWatch& watch)
      : options_(options), data_(data), files_(files), watch_(watch) {
    for (const double rate : rates_of(*options.grid)) rates_.push_back(fmt::format("{:.3g}", rate));
    for (const BenchmarkProblem& problem : options.problems) {
      problems_.push_back({problem, std::vector<Cell>(options.methods.size())});
      specs_.emplace_back(options.methods.size());
    }
    untuned_ = std::vector<std::atomic<std::size_t>>(problems_.size());
  }

  Benchmark run() {
    for (std::size_t p = 0; p < problems_.size(); ++p) {
      for (std::size_t m = 0; m < options_.methods.size(); ++m) prepare(p, m);
    }
    require_fitting();
    Workers workers;
    for (std::size_t p = 0; p < problems_.size(); ++p) {
      for (std::size_t m = 0; m < options_.methods.size(); ++m) {
        if (!problems_[p].cells[m].fits()) continue;
        ++untuned_[p];
        workers.add([&, p, m] {
          if (!tune(p, m) || --untuned_[p] > 0) return;
          choose_rates(p);
          for (std::size_t k = options_.methods.size(); k-- > 0;) {
            if (problems_[p].cells[k].fits()) workers.add_next([this, p, k] { judge(p, k); });
          }
        });
      }
    }
    workers.run(static_cast<std::size_t>(options_.jobs), watch_.keep_going);
    Benchmark result{.options = options_, .kept = kept_};
    result.interrupted = !watch_.keep_going();
    for (ProblemCells& problem : problems_) {
      if (problem.complete()) result.problems.push_back(std::move(problem));
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    return result;
  }

 private:
  bool tunes(std::size_t m) const { return !options_.methods[m].has_own_rate(); }
  std::size_t rates_tried(std::size_t m) const { return tunes(m) ? rates_.size() : 1; }

  static void set_rate(RunSpec& spec, const std::string& rate) {
    std::visit([&](auto& run) { run.learning_rate = RateSpec::parse(rate); }, spec);
  }

  /// The run of a method on a problem, or why there is none.
  void prepare(std::size_t p, std::size_t m) {
    const compare::Problem& problem = problems_[p].problem.problem;
    const compare::Method& method = options_.methods[m];
    Cell& cell = problems_[p].cells[m];
    RunSpec& spec = specs_[p][m];
    try {
      compare::explained(problem, method, [&] {
        spec = compare::spec_for(problem, method);
        if (tunes(m)) set_rate(spec, rates_.front());
        compare::check_fits(spec, data_);
      });
      const std::size_t seeds = options_.choosing_seeds().size();
      runs_ += rates_tried(m) * seeds + options_.judging_seeds().size();
    } catch (const UsageError& error) {
      cell.misfit = error.what();
    }
  }

  /// A method that fits none of the problems is a mistake of whoever asked for it. A suite may have
  /// such methods where its problems are chosen, or are too large: they are listed as misfits.
  void require_fitting() const {
    const std::vector<std::string>& usual = find_entry(suites(), options_.suite).methods;
    bool any = false;
    for (std::size_t m = 0; m < options_.methods.size(); ++m) {
      const auto fits = [&](const ProblemCells& problem) { return problem.cells[m].fits(); };
      if (std::any_of(problems_.begin(), problems_.end(), fits)) {
        any = true;
      } else if (std::find(usual.begin(), usual.end(), options_.methods[m].text) == usual.end()) {
        throw UsageError(problems_.front().cells[m].misfit);
      }
    }
    if (!any) throw UsageError(problems_.front().cells.front().misfit);
  }

  /// Nothing when it was stopped.
  std::optional<RecordedRun> run_one(std::size_t p, const RunSpec& spec, std::uint64_t seed,
                                     const std::string& doing) {
    if (!watch_.keep_going()) return std::nullopt;
    const BenchmarkProblem& problem = problems_[p].problem;
    const compare::StartLoss start =
        compare::start_loss(problem.problem.spec, data_, seed, options_.spread);
    tell(doing);
    const compare::Trial trial =
        compare::run_trial({.spec = spec,
                            .seed = seed,
                            .budget = options_.budget_of(problem),
                            .threshold = start.minimum + finished * (start.start - start.minimum),
                            .spread = options_.spread,
                            .stop_at_target = true,
                            .clock = RunClock::processor},
                           data_, [&](const compare::Cost&) { return watch_.keep_going(); });
    if (!watch_.keep_going()) return std::nullopt;
    ++done_;
    return recorded(trial, seed, start);
  }

  void tell(const std::string& doing) {
    const std::scoped_lock lock(telling_);
    watch_.progress(static_cast<double>(done_) / static_cast<double>(runs_), doing);
  }

  /// "rosenbrock/gd-teleport-every-10.tuning-0123456789ab.json"
  std::string file_of(std::size_t p, std::size_t m, const char* stage,
                      const std::vector<std::string>& rates,
                      const std::vector<std::uint64_t>& seeds) const {
    const BenchmarkProblem& problem = problems_[p].problem;
    RunSpec spec = specs_[p][m];
    set_rate(spec, rates.front());
    std::string key = fmt::format(
        "format {}\nsymport {}\nproblem {}\nmethod {}\nbudget {}\nspread {}\nrates {}\nseeds {}\n",
        format_of_cells, version(), problem.name, options_.methods[m].text,
        options_.budget_of(problem).text(), options_.spread, fmt::join(rates, " "),
        fmt::join(seeds, " "));
    for (const ConfigEntry& entry : entries_of(spec)) {
      key += fmt::format("{} = {}\n", entry.key, text_of(entry.value));
    }
    Sha256 hash;
    hash.update(key);
    return fmt::format("{}/{}.{}-{}.json", folder_name(problem.name),
                       folder_name(options_.methods[m].text), stage,
                       hash.hex().substr(0, shown_of_hash));
  }

  /// The runs of a stage, one list for each rate, from its file or made now; nothing when it was
  /// stopped.
  std::optional<std::vector<RateRuns>> stage(std::size_t p, std::size_t m, const char* name,
                                             const std::vector<std::string>& rates,
                                             const std::vector<std::uint64_t>& seeds) {
    const std::string file = file_of(p, m, name, rates, seeds);
    if (auto found = read_stage(file, rates, seeds)) return found;
    std::vector<RateRuns> all;
    for (const std::string& rate : rates) {
      RunSpec spec = specs_[p][m];
      set_rate(spec, rate);
      RateRuns& one = all.emplace_back(RateRuns{rate});
      for (const std::uint64_t seed : seeds) {
        auto run = run_one(
            p, spec, seed,
            fmt::format("{} {} on {}", name, options_.methods[m].text, problems_[p].problem.name));
        if (!run) return std::nullopt;
        one.runs.push_back(std::move(*run));
      }
    }
    write_stage(file, all);
    return all;
  }

  std::optional<std::vector<RateRuns>> read_stage(const std::string& file,
                                                  const std::vector<std::string>& rates,
                                                  const std::vector<std::uint64_t>& seeds) {
    const std::optional<std::string> text = files_.read(file);
    if (!text) return std::nullopt;
    std::vector<RateRuns> all;
    try {
      const Json json = Json::parse(*text);
      for (const Json& item : json.at("rates")) {
        RateRuns& one = all.emplace_back(RateRuns{item.at("rate").get<std::string>()});
        for (const Json& run : item.at("runs")) one.runs.push_back(recorded_run(run));
      }
      const auto as_asked = [&](const RateRuns& one) {
        return std::equal(
            one.runs.begin(), one.runs.end(), seeds.begin(), seeds.end(),
            [](const RecordedRun& run, std::uint64_t seed) { return run.seed == seed; });
      };
      if (all.size() != rates.size() || !std::all_of(all.begin(), all.end(), as_asked)) {
        throw InvalidArgument("runs", "others", "those of this benchmark");
      }
    } catch (const std::exception& error) {
      watch_.warn(fmt::format("{} is damaged and is made again: {}", file, error.what()));
      return std::nullopt;
    }
    ++kept_;
    done_ += rates.size() * seeds.size();
    return all;
  }

  void write_stage(const std::string& file, const std::vector<RateRuns>& all) {
    Json json{{"rates", Json::array()}};
    for (const RateRuns& one : all) {
      Json runs = Json::array();
      for (const RecordedRun& run : one.runs) runs.push_back(run_json(run));
      json["rates"].push_back({{"rate", one.rate}, {"runs", std::move(runs)}});
    }
    const std::scoped_lock lock(writing_);
    files_.write(file, json_line(json));
  }

  bool tune(std::size_t p, std::size_t m) {
    std::vector<std::string> rates = rates_;
    if (!tunes(m)) rates = {*options_.methods[m].options.text("lr")};
    auto runs = stage(p, m, "tuning", rates, options_.choosing_seeds());
    if (!runs) return false;
    problems_[p].cells[m].tuning = std::move(*runs);
    return true;
  }

  /// Of all methods on a problem, once all are tuned.
  void choose_rates(std::size_t p) {
    ProblemCells& problem = problems_[p];
    std::vector<const std::vector<RecordedRun>*> all;
    for (const Cell& cell : problem.cells) {
      for (const RateRuns& one : cell.tuning) all.push_back(&one.runs);
    }
    const std::vector<double> targets = targets_of(problem.problem, all, options_.tolerance);
    const compare::Budget& budget = options_.budget_of(problem.problem);
    for (Cell& cell : problem.cells) {
      std::optional<compare::RateScore> best;
      for (std::size_t r = 0; r < cell.tuning.size(); ++r) {
        compare::RateScore score;
        for (std::size_t i = 0; i < targets.size(); ++i) {
          const RecordedRun& run = cell.tuning[r].runs[i];
          std::optional<double> cost;
          if (const auto at = run.reached(targets[i])) cost = at->in(budget.unit);
          score.add(cost, budget.amount, run.last_loss);
        }
        if (best && !(score < *best)) continue;
        best = score;
        cell.chosen = r;
      }
    }
  }

  void judge(std::size_t p, std::size_t m) {
    Cell& cell = problems_[p].cells[m];
    auto runs = stage(p, m, "judging", {cell.rate()}, options_.judging_seeds());
    if (runs) cell.runs = std::move(runs->front().runs);
  }

  const BenchmarkOptions& options_;
  DataCache& data_;
  const CellFiles& files_;
  const BenchmarkWatch& watch_;
  std::vector<std::string> rates_;
  std::vector<ProblemCells> problems_;
  std::vector<std::vector<RunSpec>> specs_;  ///< of every method on every problem
  std::vector<std::atomic<std::size_t>> untuned_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::size_t runs_ = 0;
  std::atomic<std::size_t> done_ = 0, kept_ = 0;
  std::mutex telling_, writing_;
};

}  // namespace

bool ProblemCells::complete() const {
  return std::all_of(cells.begin(), cells.end(),
                     [](const Cell& cell) { return !cell.fits() || !cell.runs.empty(); });
}

std::vector<double> targets_of(const BenchmarkProblem& problem,
                               const std::vector<const std::vector<RecordedRun>*>& runs,
                               double tolerance) {
  std::vector<double> targets;
  if (runs.empty()) return targets;
  for (std::size_t i = 0; i < runs.front()->size(); ++i) {
    const RecordedRun& first = (*runs.front())[i];
    double best = first.minimum;
    if (!problem.problem.is_function()) {
      best = infinity;
      for (const auto* list : runs) best = std::min(best, (*list)[i].best());
    }
    // Where no run got below the start, nothing is solved.
    targets.push_back(best < first.start ? best + tolerance * (first.start - best) : -infinity);
  }
  return targets;
}

Benchmark run_benchmark(const BenchmarkOptions& options, DataCache& data, const CellFiles& files,
                        const BenchmarkWatch& watch) {
  return Runner(options, data, files, watch).run();
}

}  // namespace symport::lab::benchmark
