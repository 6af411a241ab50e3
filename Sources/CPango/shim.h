// Pango and cairo (Debian package libpango1.0-dev).
#pragma once
#include <pango/pangocairo.h>

/// Whether one of a run's glyphs has colours of its own, as emoji have (a bit field of PangoGlyphVisAttr).
static inline gboolean patch_run_has_color(PangoGlyphItem *run) {
    for (int i = 0; i < run->glyphs->num_glyphs; i++)
        if (run->glyphs->glyphs[i].attr.is_color) return TRUE;
    return FALSE;
}

/// The whole number of a PangoAttrInt or PangoAttrSize; 0 for attributes of other types.
static inline int patch_attribute_number(PangoAttribute *attribute) {
    PangoAttrInt *number = pango_attribute_as_int(attribute);
    if (number) return number->value;
    PangoAttrSize *size = pango_attribute_as_size(attribute);
    return size ? size->size : 0;
}

/// The type of an attribute (its class is a pointer to const).
static inline PangoAttrType patch_attribute_type(PangoAttribute *attribute) { return attribute->klass->type; }

/// Whether an attribute sets a whole font description with a size in it.
static inline int patch_attribute_font_size(PangoAttribute *attribute) {
    PangoAttrFontDesc *font = pango_attribute_as_font_desc(attribute);
    return font ? pango_font_description_get_size(font->desc) : 0;
}
