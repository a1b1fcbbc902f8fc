// SPDX-License-Identifier: MIT
// An objective as a class: loss and gradient are written, Hessian products follow from differences.
#include <cstdlib>
#include <iostream>
#include <symport/symport.hpp>

class Bowl final : public symport::Objective {
 public:
  symport::Index dimension() const override { return 2; }
  double value(symport::In<double> w) const override { return w.squaredNorm(); }
  double gradient(symport::In<double> w, symport::Out<double> g) const override {
    g = 2.0 * w;
    return value(w);
  }
};

int main() {
  using namespace symport;
  Vector w{{3.0, 1.0}};
  const RunSummary run =
      train(Bowl(), GradientDescent{}, w, {.max_steps = 50, .learning_rate = 0.1});
  std::cout << run.brief_report() << '\n';
  return run.final_loss < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
