/* An access of an array: a selection between memory and the array's file, elements converted on the
 * way where types or byte orders differ. */
#ifndef WR_ARRAY_MOVES_H
#define WR_ARRAY_MOVES_H

#include "array/mapping.h"

/* How a move is made. */
typedef struct wr_move {
    weir_array *array;
    enum wr_direction direction;
    bool together;
    bool frugal; /* as in wr_access_request */
    wr_mapping mapping;
    int type;      /* of elements in memory */
    char *base;    /* user memory */
    char *staging; /* elements as the file has them, one after the other; NULL: none needed */
    wr_run_pattern packed;
} wr_move;

/* Takes over the mapping, also on failure. */
int wr_move_prepare(wr_move *move, wr_mapping *mapping, int type, const void *base);

/* A blocking move. A rank comes with `code` != 0 if it cannot take part; `known` or NULL. */
int wr_move_run(wr_move *move, const wr_known *known, int code);

/* What is selected of an array, as `how` says: direction, together, frugal; request NULL:
 * blocking. */
int wr_array_move(weir_array *array, const weir_selection *selection, const weir_layout *layout,
                  const void *base, wr_move how, weir_request **request);

/* Nonblocking; takes over the move. */
int wr_move_start(wr_move *move, int code, weir_request **out);

#endif
