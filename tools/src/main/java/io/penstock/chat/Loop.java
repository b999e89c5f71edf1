// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.Values.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The variable {@code loop}. It takes items as they are asked for, for a body may change what its filter reads. */
final class Loop {

    private Iterator<?> items;
    private long length;
    private long index = -1;
    private Object previous = Values.MISSING;
    private Object current = Values.MISSING;
    private Object next = Values.MISSING;
    private Object changed = Values.MISSING;

    /** A loop over items; {@code length} is -1 if it is not known before they are taken. */
    Loop(Iterator<?> items, long length) {
        this.items = items;
        this.length = length;
    }

    boolean hasNext() {
        return next != Values.MISSING || items.hasNext();
    }

    Object next() {
        previous = current;
        current = peek();
        next = Values.MISSING;
        index++;
        return current;
    }

    private Object peek() {
        if (next == Values.MISSING && items.hasNext()) {
            next = items.next();
        }
        return next;
    }

    long length() {
        if (length < 0) {
            List<Object> rest = new ArrayList<>();
            items.forEachRemaining(rest::add);
            items = rest.iterator();
            length = rest.size() + index + 1 + (next == Values.MISSING ? 0 : 1);
        }
        return length;
    }

    /** An attribute; {@link Values#MISSING} if there is none of the name. */
    Object attribute(String name) {
        return switch (name) {
            case "index" -> index + 1;
            case "index0" -> index;
            case "revindex" -> length() - index;
            case "revindex0" -> length() - index - 1;
            case "length" -> length();
            case "first" -> index == 0;
            case "last" -> peek() == Values.MISSING;
            case "depth" -> 1L;
            case "depth0" -> 0L;
            case "previtem" -> index == 0 ? new Undefined("there is no previous item") : previous;
            case "nextitem" -> peek() == Values.MISSING ? new Undefined("there is no next item") : next;
            case "cycle" -> (Values.Function) (render, arguments) -> cycle(arguments.positional());
            case "changed" -> (Values.Function) (render, arguments) -> changed(render, arguments.positional());
            default -> Values.MISSING;
        };
    }

    private Object cycle(Object[] values) {
        if (values.length == 0) {
            throw Values.error("loop.cycle: no items to cycle through");
        }
        return values[(int) (index % values.length)];
    }

    private boolean changed(Render render, Object[] values) {
        Tuple now = new Tuple(values.clone());
        boolean isChanged = changed == Values.MISSING || !Comparisons.areEqual(render, changed, now);
        changed = now;
        return isChanged;
    }
}
