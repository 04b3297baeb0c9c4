/* A delegate for tests: takes the ADD operators of float graphs, in one of several moods (option "mood").

   works    adds                      wrong    adds, and then one more
   refuses  is not made at all        dies     writes to nowhere when it runs
   leaves   is made, and refuses when it is shown a graph
   spies    takes nothing, and prints what the graph runs: "plan" and, for each node of another delegate,
            "took" with the operators it stands for

   The structures are those of the interface as LiteRT 2.3 has it (tflite/core/c/common.h), with only the
   names that are needed here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, BAD = 1, CODE_ADD = 0, CODE_DELEGATE = 51, ALLOW_DYNAMIC = 1 };

struct list { int size; int at[]; };
struct tensor {
  int type; void *data; struct list *shape; float scale; int zero; int allocation; size_t bytes;
  const void *file; const char *name; void *delegate; int handle; bool stale, variable;
  int quantization; void *parameters; void *sparsity; const struct list *signature;
};
struct node {
  struct list *inputs, *outputs, *intermediates, *temporaries; void *own; void *options;
  const void *custom; int custom_size; void *delegate; bool side_effect;
};
struct context;
struct kernel {
  void *(*init)(struct context *, const char *, size_t);
  void (*release)(struct context *, void *);
  int (*prepare)(struct context *, struct node *);
  int (*invoke)(struct context *, struct node *);
  const char *(*profiling)(const struct context *, const struct node *);
  int32_t code; const char *name; int version; void *outside; void *async; uint64_t in_place;
};
struct delegate {
  void *data; int (*prepare)(struct context *, struct delegate *);
  void *copy_from, *copy_to, *release_handle; int64_t flags; void *builder;
};
struct part { struct delegate *delegate; struct list *ops, *inputs, *outputs; };
struct context {
  size_t count; int (*plan)(struct context *, struct list **); struct tensor *tensors; void *inner;
  void *resize, *complain, *add;
  int (*node)(struct context *, int, struct node **, struct kernel **);
  int (*replace)(struct context *, struct kernel, const struct list *, struct delegate *);
};
struct taken { const char *mood; int count; int (*ops)[3]; };

static struct delegate made;
static char mood[16];

static void *init(struct context *context, const char *buffer, size_t length) {
  const struct part *part = (const struct part *)buffer;
  struct taken *taken = malloc(sizeof *taken);
  (void)length;
  taken->mood = mood;
  taken->count = part->ops->size;
  taken->ops = calloc(taken->count, sizeof *taken->ops);
  for (int i = 0; i < taken->count; i++) {
    struct node *node;
    struct kernel *kernel;
    context->node(context, part->ops->at[i], &node, &kernel);
    taken->ops[i][0] = node->inputs->at[0];
    taken->ops[i][1] = node->inputs->at[1];
    taken->ops[i][2] = node->outputs->at[0];
  }
  return taken;
}

static void release(struct context *context, void *data) {
  (void)context;
  free(((struct taken *)data)->ops);
  free(data);
}

static int prepare(struct context *context, struct node *node) {
  (void)context, (void)node;
  return OK;
}

static int invoke(struct context *context, struct node *node) {
  const struct taken *taken = node->own;
  if (!strcmp(taken->mood, "dies")) *(volatile int *)16 = 1;
  for (int i = 0; i < taken->count; i++) {
    const float *a = context->tensors[taken->ops[i][0]].data, *b = context->tensors[taken->ops[i][1]].data;
    struct tensor *sum = &context->tensors[taken->ops[i][2]];
    for (size_t k = 0; k < sum->bytes / sizeof(float); k++)
      ((float *)sum->data)[k] = a[k] + b[k] + (strcmp(taken->mood, "wrong") ? 0 : 1);
  }
  return OK;
}

static int spy(struct context *context, const struct list *plan) {
  fprintf(stderr, "plan");
  for (int i = 0; i < plan->size; i++) fprintf(stderr, " %d", plan->at[i]);
  fprintf(stderr, "\n");
  for (int i = 0; i < plan->size; i++) {
    struct node *node;
    struct kernel *kernel;
    if (context->node(context, plan->at[i], &node, &kernel) != OK) return BAD;
    if (kernel->code != CODE_DELEGATE) continue;
    const struct part *part = node->options;
    fprintf(stderr, "took");
    for (int k = 0; k < part->ops->size; k++) fprintf(stderr, " %d", part->ops->at[k]);
    fprintf(stderr, "\n");
  }
  return OK;
}

static int look(struct context *context, struct delegate *delegate) {
  struct list *plan;
  if (!strcmp(mood, "leaves") || context->plan(context, &plan) != OK) return BAD;
  if (!strcmp(mood, "spies")) return spy(context, plan);
  struct list *wanted = calloc(1, sizeof *wanted + plan->size * sizeof(int));
  int copy[plan->size];
  int size = plan->size;
  memcpy(copy, plan->at, sizeof copy); /* the plan's memory is the runtime's, and changes as it is asked */
  for (int i = 0; i < size; i++) {
    struct node *node;
    struct kernel *kernel;
    context->node(context, copy[i], &node, &kernel);
    if (kernel->code == CODE_ADD) wanted->at[wanted->size++] = copy[i];
  }
  struct kernel ours = {.init = init, .release = release, .prepare = prepare, .invoke = invoke,
                        .code = CODE_DELEGATE, .name = "SmallDelegate", .version = 1};
  int status = context->replace(context, ours, wanted, delegate);
  free(wanted);
  return status;
}

struct delegate *tflite_plugin_create_delegate(const char *const *keys, const char *const *values, size_t count,
                                               void (*complain)(const char *)) {
  strcpy(mood, "works");
  for (size_t i = 0; i < count; i++) {
    if (strcmp(keys[i], "mood")) {
      complain("there is no such option");
      return NULL;
    }
    strncpy(mood, values[i], sizeof mood - 1);
  }
  if (!strcmp(mood, "refuses")) {
    complain("this device has no such unit");
    return NULL;
  }
  made = (struct delegate){.prepare = look, .flags = strcmp(mood, "spies") ? 0 : ALLOW_DYNAMIC};
  return &made;
}

void tflite_plugin_destroy_delegate(struct delegate *delegate) { (void)delegate; }
