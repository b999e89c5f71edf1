// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

/** Image files as stores, JPEG and PNG; their decoders have targets of their own, which get further. */
final class ImagesFuzz {

    static final FuzzTarget TARGET = StoreFuzz.of("images", "images", "x.img").upTo(8 << 10);

    private ImagesFuzz() {
    }
}
