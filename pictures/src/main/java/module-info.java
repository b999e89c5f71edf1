// SPDX-License-Identifier: Apache-2.0
/** Pictures: decoding of JPEG and PNG, folders of images, augmentation on the CPU and on the device. */
module io.penstock.pictures {
    requires transitive io.penstock;
    requires static java.desktop;
    requires static org.jspecify;

    exports io.penstock.augment;
    exports io.penstock.image;
    exports io.penstock.pictures;
    exports io.penstock.image.reading to io.penstock.tools;

    provides io.penstock.store.StoreProvider with
            io.penstock.image.folder.ImageProvider;
}
