#pragma once

namespace stiction {

/// The exact NCP of one contact whose velocity is v + G lambda, G symmetric: xx xy xz yy yz zz,
/// rows t1 t2 n. In: lambda, whose direction of friction is tried first where the contact slides.
/// Out: the solution. False, and lambda untouched, if none was found (a contact that jams).
bool solve_local_contact(const double* G, double mu, const double* v, double* lambda);

/// The same of a circular cone of D rows; columns of G are `stride` apart. Where several solutions
/// exist it finds one, whatever lambda was. False, and lambda untouched, if G is not positive.
template <int D>
bool solve_local_contact(const double* G, int stride, double mu, const double* v, double* lambda);

}  // namespace stiction
