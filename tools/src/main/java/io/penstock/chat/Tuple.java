// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import java.util.AbstractList;
import java.util.List;

/** A Python tuple. It is a {@link List} of its own kind: equal to no list, and written in parentheses. */
final class Tuple extends AbstractList<Object> {

    private final Object[] items;

    Tuple(Object... items) {
        this.items = items;
    }

    @Override
    public Object get(int index) {
        return items[index];
    }

    @Override
    public int size() {
        return items.length;
    }
}
