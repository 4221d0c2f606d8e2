/*
 * Functions that build a recording node by node, for code that makes one recording of another: views, differences and
 * readers of files. Samplers use stackset_add.
 */
#pragma once

#include "model/stacks/stackset.h"

/* The child with this frame, added if it is new. Pointers to nodes are invalid afterwards. -ENOMEM. */
int must_check stackset_child(struct stackset *s, uint32_t parent, uint32_t frame, uint32_t *ret);
/* Adds a lane even if one with this pid and tid exists, because another machine may use the same numbers. -ENOMEM. */
int must_check stackset_lane_new(struct stackset *s, const struct stack_lane *lane, uint32_t *ret);
/* For writing; valid until the next node is added. */
struct stack_node *stackset_node(struct stackset *s, uint32_t node);
/* Adds the self values of `from` to those of `to`; saturates. */
void stack_node_add(struct stack_node *to, const struct stack_node *from);
uint64_t stack_node_weight(const struct stack_node *n); /* self, all states */
uint64_t stack_node_samples(const struct stack_node *n);
