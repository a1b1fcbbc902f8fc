// SPDX-License-Identifier: MIT
// Algorithm 3: the group acts on parameters and data, g.(W, X) = (W g^-1, g X). The composed data
// transformation f is returned and applied to new inputs.
#include <cstdlib>
#include <iostream>
#include <symport/symport.hpp>

int main() {
  using namespace symport;
  Random random(7);
  Matrix X = random.normal_matrix(4, 30);
  X.row(0) *= 10.0;  // badly scaled inputs: slow for gradient descent
  const Matrix truth = random.normal_matrix(2, 4);
  LinearModel model(X, truth * X);

  const LinearDataSymmetry symmetry;
  Vector w = Vector::Zero(model.dimension());
  const auto [run, f] = train_with_data(
      model, CurvatureDescent{}, w, {.max_steps = 60, .symmetry = &symmetry, .schedule = every(5)});

  const Matrix unseen = random.normal_matrix(4, 3);
  const double error = (model.predict(w, f(unseen)) - truth * unseen).norm();
  std::cout << run.brief_report() << "\nerror of the prediction on f(x): " << error << '\n';
  return error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
