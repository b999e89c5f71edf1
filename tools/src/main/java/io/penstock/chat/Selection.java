// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Predicate;

/** The items of an iterator that a predicate selects, each tested when it is asked for. */
final class Selection implements Iterator<Object> {

    private final Iterator<?> items;
    private final Predicate<Object> selects;
    private final Render render;
    private Object next = Values.MISSING;

    Selection(Iterator<?> items, Predicate<Object> selects, Render render) {
        this.items = items;
        this.selects = selects;
        this.render = render;
    }

    @Override
    public boolean hasNext() {
        while (next == Values.MISSING && items.hasNext()) {
            render.step();
            Object item = items.next();
            next = selects.test(item) ? item : next;
        }
        return next != Values.MISSING;
    }

    @Override
    public Object next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        Object item = next;
        next = Values.MISSING;
        return item;
    }
}
