// SPDX-License-Identifier: Apache-2.0
/** Folders of files as records: image trees with a folder per class, texts, any file as bytes. */
@NullMarked
package io.penstock.format.files;

import org.jspecify.annotations.NullMarked;
