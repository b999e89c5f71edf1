// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

/** A heap of numbers, such as those of ranks, the first one by a changing order at its top. */
abstract class IntHeap {

    private final int[] heap;
    private int size;

    /** Makes an empty heap. */
    IntHeap(int capacity) {
        heap = new int[capacity];
    }

    abstract boolean isBefore(int a, int b);

    boolean isEmpty() {
        return size == 0;
    }

    int top() {
        return heap[0];
    }

    /** Adds a number behind all others, before which it is not. */
    void append(int number) {
        heap[size++] = number;
    }

    void push(int number) {
        int at = size++;
        while (at > 0 && isBefore(number, heap[(at - 1) / 2])) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = number;
    }

    int pop() {
        int top = heap[0];
        heap[0] = heap[--size];
        sink();
        return top;
    }

    /** Moves the top to its place, after others have come before it. */
    void sink() {
        int moved = heap[0];
        int at = 0;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
                child++;
            }
            if (!isBefore(heap[child], moved)) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = moved;
    }
}
