/* What every page has the same: its style and its script. */
#ifndef WR_CLI_REPORT_STYLE_H
#define WR_CLI_REPORT_STYLE_H

extern const char report_style[], report_script[];

#endif
