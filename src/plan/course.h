/* Keeping windows in a course. Used by cover.c only. */
#ifndef WR_PLAN_COURSE_H
#define WR_PLAN_COURSE_H

#include "plan/cover.h"

/* What came of making the next window: keeps it if there is room, and marks it as kept; after the
 * last one the course is whole. */
void wr_course_note(wr_course *course, int code, wr_window *window);

#endif
