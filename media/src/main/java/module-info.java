// SPDX-License-Identifier: Apache-2.0
/** Sound and video: samples that are clips, decoded by FFmpeg's libraries, and the steps of sound. */
module io.penstock.media {
    requires transitive io.penstock;
    requires transitive io.penstock.pictures;
    requires static org.jspecify;

    exports io.penstock.media;
    exports io.penstock.media.sound;
}
