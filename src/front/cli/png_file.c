/* Through libpng, where it was there when the command was built. */
#include "png_file.h"

#include <errno.h>
#ifdef WR_HAVE_PNG
#include <png.h>
#endif

#include "failure.h"

#ifdef WR_HAVE_PNG
bool cli_png_is_built(void)
{
    return true;
}

int cli_png_write(FILE *out, const char *path, const cli_canvas *canvas)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    errno = 0;
    if (png_image_write_to_stdio(&image, out, 0, canvas->pixel, 0, NULL))
        return 0;
    return errno ? cli_fail_errno(path, "cannot be written")
                 : cli_fail(WEIR_EIO, path, 0, "%s", image.message);
}
#else
bool cli_png_is_built(void)
{
    return false;
}

int cli_png_write(FILE *out, const char *path, const cli_canvas *canvas)
{
    (void)out, (void)canvas;
    return cli_fail(WEIR_EUNSUPPORTED, path, 0, "this weir was built without libpng");
}
#endif
