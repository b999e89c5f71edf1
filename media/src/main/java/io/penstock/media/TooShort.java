// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

/** What becomes of a video or sound that is shorter than a clip. */
public enum TooShort {
    /** The last frame of a video is repeated; silence, 0, follows sound. */
    PAD,
    /** It begins again. */
    WRAP,
    /** It is a bad sample. */
    REFUSE
}
