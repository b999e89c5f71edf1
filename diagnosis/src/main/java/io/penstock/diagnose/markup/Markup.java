// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.markup;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** Writes HTML and SVG elements, and escapes all text. */
public final class Markup {

    private final StringBuilder out = new StringBuilder();
    private final Deque<String> open = new ArrayDeque<>();

    /** Opens an element; attributes are alternating names and values. */
    public Markup open(String element, Object... attributes) {
        tag(element, attributes).append('>');
        open.push(element);
        return this;
    }

    public Markup close() {
        out.append("</").append(open.pop()).append(">\n");
        return this;
    }

    /** Appends an element without content. */
    public Markup empty(String element, Object... attributes) {
        tag(element, attributes).append("/>\n");
        return this;
    }

    public Markup element(String element, String text, Object... attributes) {
        return open(element, attributes).text(text).close();
    }

    public Markup text(String text) {
        escape(text);
        return this;
    }

    /** Appends markup unchanged. */
    public Markup raw(String markup) {
        out.append(markup);
        return this;
    }

    private StringBuilder tag(String element, Object... attributes) {
        out.append('<').append(element);
        for (int i = 0; i < attributes.length; i += 2) {
            out.append(' ').append(attributes[i]).append("=\"");
            Object value = attributes[i + 1];
            escape(value instanceof Double number ? coordinate(number) : value.toString());
            out.append('"');
        }
        return out;
    }

    private static String coordinate(double value) {
        return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.2f", value);
    }

    private void escape(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '&' -> out.append("&amp;");
                case '"' -> out.append("&quot;");
                default -> out.append(c < ' ' && c != '\n' && c != '\t' ? ' ' : c);
            }
        }
    }

    @Override
    public String toString() {
        if (!open.isEmpty()) {
            throw new IllegalStateException("<" + open.peek() + "> is open");
        }
        return out.toString();
    }
}
