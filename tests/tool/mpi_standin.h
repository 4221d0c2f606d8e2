/*
 * A stand-in for MPI, for ranks in C that hang: the same names, made of a ring
 * of TCP connections between the ranks that RANK, WORLD_SIZE and MASTER_PORT
 * name. Every collective goes round the ring twice, so a rank that is missing
 * is waited for by all others; a message that belongs to another call is passed
 * over, as a real library waits for the call that it is in.
 */
#pragma once

#include <stdbool.h>

/* A peer that is gone is waited for, as a collective on a device does; otherwise the process ends with status 1. */
extern bool mpi_deaf;
/* From now on what this rank sends is lost: a broken link below the library. */
extern bool mpi_link_broken;

int MPI_Init(void);
int MPI_Allreduce(double value, double *ret);
int MPI_Barrier(void);
int MPI_Recv(double *ret); /* of the rank before this one in the ring */
int MPI_Send(double value); /* to the one behind it */
int MPI_Finalize(void);
