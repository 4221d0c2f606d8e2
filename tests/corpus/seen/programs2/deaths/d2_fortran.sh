cat > f.f90 <<'X'
program p
  real :: a(10)
  integer :: i
  do i = 1, 9
    print *, 'step', i, 'loss', 1.0 / i
  end do
  i = 11
  if (iargc() == 0) a(i) = 1.0
  print *, a(3)
end program
X
gfortran -w -fcheck=bounds f.f90 -o f
exec ./f
