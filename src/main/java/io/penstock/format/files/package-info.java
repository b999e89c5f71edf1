/** Folders of files as records: image trees with a folder a class, texts, any file as bytes. */
package io.penstock.format.files;
