/*
 * Building a recording node by node, for what makes one of another: views,
 * differences, merges, readers of files. Samplers use stackset_add.
 */
#pragma once

#include "model/stacks/stackset.h"

/* The child of a node with that frame, made when new. Links to nodes are void afterwards. -ENOMEM. */
int must_check stackset_child(struct stackset *s, uint32_t parent, uint32_t frame, uint32_t *ret);
/* A lane that is not looked for first: another machine may use the same numbers. */
int must_check stackset_lane_new(struct stackset *s, const struct stack_lane *lane, uint32_t *ret);
/* To be written to until the next node is made. */
struct stack_node *stackset_node(struct stackset *s, uint32_t node);
/* Adds the self values of one node to another; saturates. */
void stack_node_add(struct stack_node *to, const struct stack_node *from);
uint64_t stack_node_weight(const struct stack_node *n); /* self, all states */
uint64_t stack_node_samples(const struct stack_node *n);
