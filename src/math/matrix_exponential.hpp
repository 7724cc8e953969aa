#pragma once

#include <vector>

namespace stiction {

struct MatrixExponentialSettings {
  /// Most products of matrices: -1, as many as full precision takes; 0 ... 4, the Pade order that
  /// these allow, (1,1) (2,2) (3,3) (5,5) (7,7), without scaling: good for matrices of small norm;
  /// 5 is (9,9), n >= 6 is (13,13) with at most n - 6 squarings.
  int max_products = -1;
  bool balancing = true;  ///< scale by powers of 2 to a smaller norm first

  void validate() const;  ///< throws std::invalid_argument naming field and value
};

/// X <- e^A X for a few columns X by Pade approximation with scaling and squaring (Higham, SIAM J.
/// Matrix Anal. Appl. 26, 2005), after balancing as in Hammoud et al. 2022, section 5. Owns its
/// scratch: no allocation for sizes it has met.
class MatrixExponential {
 public:
  /// A [n x n], X [n x columns], row-major, contiguous.
  void apply(const double* A,
             int n,
             double* X,
             int columns,
             const MatrixExponentialSettings& settings = {});

  int products() const { return products_; }    ///< of n x n matrices in the last call
  int squarings() const { return squarings_; }  ///< and the scaling, A / 2^squarings

 private:
  double* panel(int index) { return panels_.data() + static_cast<std::size_t>(index) * size_; }
  void load(const double* A, const MatrixExponentialSettings& settings);
  void balance();
  double norm_one() const;
  void multiply(int to, int a, int b);
  void low_order(int degree);
  void thirteenth_order();
  void quotient(double* X, int columns);

  int n_ = 0, stride_ = 0, size_ = 0, products_ = 0, squarings_ = 0;
  std::vector<double> panels_, scale_, columns_, image_;
};

}  // namespace stiction
