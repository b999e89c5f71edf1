// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

/** The variables of one call of a function of the template, and where it writes. */
final class Frame {

    final Object[] slots;
    final Render render;
    private final Frame outer;
    /** What the function writes to; a block that captures its text puts its own in place while it runs. */
    StringBuilder out;

    Frame(Scope scope, Frame outer, Render render, StringBuilder out) {
        this.slots = scope.newSlots();
        this.outer = outer;
        this.render = render;
        this.out = out;
    }

    /** The frame of the function that is so many functions further out. */
    Frame outer(int hops) {
        Frame frame = this;
        for (int i = hops; i > 0; i--) {
            frame = frame.outer;
        }
        return frame;
    }

    /** Writes what {@code str} makes of a value. */
    void write(Object value) {
        if (value instanceof String text) {
            out.append(text);
        } else {
            int before = out.length();
            Values.appendText(value, out);
            render.read(out.length() - before);
        }
        if (out.length() > render.mostChars) {
            throw Values.error("the text is longer than " + render.mostChars + " chars, the limit");
        }
    }
}
